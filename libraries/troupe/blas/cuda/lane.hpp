// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/blas/cuda/handle.hpp>
#include <troupe/cuda/lane_memory.hpp>

namespace troupe::blas {

/// The cuBLAS state of one lane of the worker. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make();
  /// Call before any other function; sets the stream and workspace of the handle if they have changed.
  result<void> use(const call& c);

  cuda::lane_memory& memory() noexcept { return memory_; }
  cublasHandle_t handle() const noexcept { return handle_.get(); }
  /// Device memory for partial results that one kernel passes to the next.
  void* partial_results() const noexcept { return memory_.workspace() + workspace_bytes; }
  cublasStatus_t set_scalars_in(cublasPointerMode_t where) noexcept;

  /// The size that NVIDIA recommends for Hopper and later. With less, cuBLAS computes the same results more slowly.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  static constexpr std::size_t between_bytes = std::size_t{64} << 10;

 private:
  explicit lane(cuda::lane_memory memory) noexcept : memory_(std::move(memory)) {}

  cuda::lane_memory memory_;
  library_handle handle_;  // declared after the memory that it uses, so that it is destroyed first
  cublasPointerMode_t scalars_in_ = CUBLAS_POINTER_MODE_HOST;
};

}  // namespace troupe::blas
