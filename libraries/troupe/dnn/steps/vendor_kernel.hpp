// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/worker/engine.hpp>
#include <utility>

namespace troupe::dnn {

/// A fusion match that a vendor's library computes, and the library's objects for it. Thread-safe.
class vendor_kernel {
 public:
  explicit vendor_kernel(fusion_match match) : match_(std::move(match)) {}
  virtual ~vendor_kernel() = default;
  vendor_kernel(const vendor_kernel&) = delete;
  vendor_kernel& operator=(const vendor_kernel&) = delete;

  const fusion_match& match() const noexcept { return match_; }
  /// Returns true if the kernel may read its inputs before the previous kernel in the stream has ended.
  virtual bool reads_early() const noexcept { return false; }
  /// Called when the graph has been planned, before the first `enqueue`, with the locations of the operands. Returns
  /// the bytes of workspace that the kernel takes for itself, of at most `workspace` bytes.
  virtual result<std::uint64_t> place(const fused_step&, std::uint64_t /*workspace*/, const call&) { return 0; }
  /// Enqueues the computation in the call's stream; on the host, computes it. `addresses` has the addresses of the
  /// inputs, then of the outputs.
  virtual result<void> enqueue(std::span<void* const> addresses, void* workspace, call& c) const = 0;

 private:
  const fusion_match match_;
};

}  // namespace troupe::dnn
