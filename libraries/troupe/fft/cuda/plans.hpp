// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <troupe/cuda/handles.hpp>
#include <troupe/fft/cuda/gpu_callbacks.hpp>
#include <troupe/fft/cuda/status.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::fft {

/// What identifies a plan of cuFFT. It consists of numbers without padding, so equal plans have equal bytes.
struct plan_key {
  struct side {
    std::int64_t type, stride, distance, embed[shape::most];
  };
  std::int64_t rank, n[shape::most], batch;
  side input, output;
  std::int64_t callbacks = 0, lane = 0;  ///< 0: none; a plan with callbacks belongs to one lane
  friend bool operator==(const plan_key& a, const plan_key& b) noexcept { return std::memcmp(&a, &b, sizeof a) == 0; }
};
static_assert(std::has_unique_object_representations_v<plan_key>);

/// Returns the key of a transform of extents `n` whose sides have these layouts.
plan_key key_of(const shape& n, const layout& input, const shape& input_n, cudaDataType in, const layout& output,
                const shape& output_n, cudaDataType out, extent batch);

/// A plan of cuFFT. `run` sets its stream and work area, which other calls of `run` change.
class plan {
 public:
  static result<std::shared_ptr<plan>> make(const plan_key& k, const link_time_code* code);
  ~plan();
  plan(const plan&) = delete;

  std::uint64_t work_bytes() const noexcept { return work_bytes_; }
  /// Returns the memory in which callbacks find the addresses of their data: first load's, then store's. 0 without
  /// callbacks.
  CUdeviceptr data() const noexcept { return data_.get(); }
  /// Enqueues a transform.
  result<void> run(CUstream stream, void* work, void* input, void* output, bool forward, bool& broken);

 private:
  // How many kernels contain a load and a store function: one kernel both, or each its own.
  enum class linking : std::uint8_t { together, apart };
  plan() = default;
  result<void> set_callbacks(const plan_key& k, const link_time_code& code, linking how);
  static result<std::shared_ptr<plan>> make_once(const plan_key& k, const link_time_code* code, linking how);
  cufftHandle handle_ = 0;
  bool made_ = false;
  std::uint64_t work_bytes_ = 0;
  cuda::device_memory data_;
  std::mutex lock_;  ///< protects the handle's stream and work area
  CUstream stream_ = nullptr;
  void* work_ = nullptr;
  bool set_up_ = false;  ///< true once the handle has a stream and a work area
};

/// The plans of a worker, for all its lanes. Thread-safe.
class plans {
 public:
  static constexpr std::size_t most = 256;

  /// Returns the plan, which is made if it does not exist.
  result<std::shared_ptr<plan>> find(const plan_key& k, const link_time_code* code);
  /// Drops the plans that use these callbacks, which are being unloaded. Waits for the GPU if there are any.
  void forget(std::uint64_t callbacks);
  troupe::plan::statistics count() const { return cache_.count(); }

 private:
  // Waits for the GPU before plans are dropped, because it may still use their memory.
  troupe::plan::cache<plan> cache_{{.most = most, .before_drop = [] { (void)::cuCtxSynchronize(); }}};
};

}  // namespace troupe::fft
