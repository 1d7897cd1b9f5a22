// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/steps.hpp>
#include <troupe/worker/engine.hpp>
#include <utility>

namespace troupe::dnn {

/// Matched nodes, ready to be computed by a vendor's library. Thread-safe.
class vendor_kernel {
 public:
  explicit vendor_kernel(fusion_match what) : what_(std::move(what)) {}
  virtual ~vendor_kernel() = default;
  vendor_kernel(const vendor_kernel&) = delete;
  vendor_kernel& operator=(const vendor_kernel&) = delete;

  const fusion_match& what() const noexcept { return what_; }
  /// Whether it may read its inputs before a kernel that the stream has before it has ended.
  virtual bool reads_early() const noexcept { return false; }
  /// Enqueues it in the call's stream; on the host, computes it. `addresses` are those of its inputs, then of its
  /// outputs.
  virtual result<void> enqueue(std::span<void* const> addresses, void* workspace, const call& c) const = 0;

 private:
  const fusion_match what_;
};

}  // namespace troupe::dnn
