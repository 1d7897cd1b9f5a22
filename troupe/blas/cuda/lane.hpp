// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/worker/engine.hpp>

#include "handle.hpp"

namespace troupe::blas {

/// Host memory that the GPU reads, for what calls take from memory: lists of addresses, descriptions, factors. It is
/// used round and round, in parts: a part is used again when the GPU has passed the calls that read it, which it has
/// long done by then.
class argument_ring {
 public:
  static constexpr std::size_t part_bytes = 256 * 1024;

  static result<argument_ring> make();
  /// Before each call: what was claimed earlier may be given back when the calls so far have run.
  result<void> begin(CUstream stream);
  /// At most `part_bytes`, and fewer than `parts - 1` large ones for one call. Aligned to 16 bytes.
  result<std::byte*> claim(std::size_t bytes);

 private:
  static constexpr std::size_t parts = 8;
  argument_ring() = default;

  cuda::pinned_memory memory_;
  cuda::event passed_[parts];
  std::size_t part_ = 0, used_ = 0;
  std::size_t left_ = 0;  ///< how many parts before this one await their event
};

/// What one lane of the worker needs of cuBLAS. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make();
  /// Must come before any other use; does nothing when it is the same stream as before. What is recorded has a
  /// workspace of the graph's.
  result<void> use(const call& c);

  cublasHandle_t handle() const noexcept { return handle_.get(); }
  CUstream stream() const noexcept { return stream_; }
  /// Host memory that the GPU reads: until the next part, or as long as the graph that records it.
  result<std::byte*> claim(std::size_t bytes);
  result<void> next_part() { return records_ != nullptr ? result<void>() : arguments_.begin(stream_); }
  /// Device memory for what one kernel leaves to the next.
  void* between() const noexcept { return reinterpret_cast<void*>(works_in_ + workspace_bytes); }
  cublasStatus_t set_scalars_in(cublasPointerMode_t where) noexcept;

  /// NVIDIA's advice for Hopper and later; cuBLAS computes the same in less, but not as fast.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  static constexpr std::size_t between_bytes = std::size_t{64} << 10;

 private:
  explicit lane(argument_ring arguments) noexcept : arguments_(std::move(arguments)) {}
  result<void> work(CUstream stream, CUdeviceptr in);

  argument_ring arguments_;
  cuda::device_memory memory_;
  library_handle handle_;  // after what it works in
  CUstream stream_ = nullptr;
  bool has_stream_ = false;
  CUdeviceptr works_in_ = 0;
  const call* records_ = nullptr;  // this call, when it is recorded
  cublasPointerMode_t scalars_in_ = CUBLAS_POINTER_MODE_HOST;
};

}  // namespace troupe::blas
