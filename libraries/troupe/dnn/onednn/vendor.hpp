// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <vector>

/// The search for parts of a graph that oneDNN computes on the host. oneDNN is optional: our own loops can compute
/// everything.
namespace troupe::dnn::onednn {

/// The part of the host engine that uses oneDNN. Thread-safe.
class vendor {
 public:
  /// Loads oneDNN for computations with `threads` threads. Fails with the reason if oneDNN cannot be used.
  static result<std::unique_ptr<vendor>> open(std::size_t threads);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  /// Finds the parts of a graph that oneDNN computes faster than our code. Each may use `workspace` bytes of workspace.
  virtual std::vector<std::unique_ptr<vendor_kernel>> find(const encoded_graph& g, std::uint64_t workspace) = 0;
};

}  // namespace troupe::dnn::onednn
