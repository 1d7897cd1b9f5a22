// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/blas/cuda/handle.hpp>
#include <troupe/cuda/lane_memory.hpp>

namespace troupe::blas {

/// What one lane of the worker needs of cuBLAS. Used by one thread at a time.
class lane {
 public:
  static result<std::unique_ptr<lane>> make();
  /// Must come before any other use; tells cuBLAS of another stream or workspace.
  result<void> use(const call& c);

  cuda::lane_memory& memory() noexcept { return memory_; }
  cublasHandle_t handle() const noexcept { return handle_.get(); }
  /// Device memory for what one kernel leaves to the next.
  void* between() const noexcept { return memory_.workspace() + workspace_bytes; }
  cublasStatus_t set_scalars_in(cublasPointerMode_t where) noexcept;

  /// NVIDIA's advice for Hopper and later; cuBLAS computes the same in less, but not as fast.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  static constexpr std::size_t between_bytes = std::size_t{64} << 10;

 private:
  explicit lane(cuda::lane_memory memory) noexcept : memory_(std::move(memory)) {}

  cuda::lane_memory memory_;
  library_handle handle_;  // after what it works in
  cublasPointerMode_t scalars_in_ = CUBLAS_POINTER_MODE_HOST;
};

}  // namespace troupe::blas
