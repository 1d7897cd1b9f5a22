// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <vector>

/// What oneDNN computes of a graph, on the host. It is optional: our own loops compute everything.
namespace troupe::dnn::onednn {

/// Thread-safe.
class vendor {
 public:
  /// Loads oneDNN, which computes with this many threads. Fails with the reason if it is not there.
  static result<std::unique_ptr<vendor>> open(std::size_t threads);
  virtual ~vendor() = default;
  virtual const std::string& version() const noexcept = 0;

  /// Finds what oneDNN computes of a graph, and faster than we. Each part may use `workspace` bytes.
  virtual std::vector<std::unique_ptr<vendor_kernel>> find(const encoded_graph& g, std::uint64_t workspace) = 0;
};

}  // namespace troupe::dnn::onednn
