// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <vector>

/// Vendor kernels of oneDNN for parts of a graph. oneDNN is optional: our own loops can compute everything.
namespace troupe::dnn::onednn {

/// Makes the kernels of oneDNN for the host engine. Thread-safe.
class kernel_maker {
 public:
  /// Loads oneDNN for computations with `threads` threads. Fails with the reason if oneDNN cannot be used.
  static result<std::unique_ptr<kernel_maker>> open(std::size_t threads);
  virtual ~kernel_maker() = default;
  virtual const std::string& version() const noexcept = 0;

  /// Makes a kernel for each part of a graph that oneDNN computes faster than our code. Each may use `workspace` bytes
  /// of workspace.
  virtual std::vector<std::unique_ptr<vendor_kernel>> make_kernels(const encoded_graph& g, std::uint64_t workspace) = 0;
};

}  // namespace troupe::dnn::onednn
