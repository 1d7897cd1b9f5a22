// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <troupe/cuda/handles.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/jit/cuda/nvrtc_builder.hpp>
#include <troupe/plan/remarks.hpp>
#include <troupe/worker/engine.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::dnn::generated {

/// The kernels of a source on the GPU, which are compiled in the background. Thread-safe.
class program {
 public:
  /// Returns the kernels in the order of the source, or null if they are not ready.
  const std::vector<CUkernel>* kernels() const noexcept {
    return state_.load(std::memory_order_acquire) == state::ready ? &kernels_ : nullptr;
  }

 private:
  friend class programs;
  enum class state : std::uint8_t { ordered, ready, failed };
  std::atomic<state> state_{state::ordered};
  cuda::code_library library_;
  std::vector<CUkernel> kernels_;
};

/// Compiles sources with NVRTC on its own thread, and loads them. Recordings may hold kernels, so all programs live as
/// long as this object. Thread-safe.
class programs {
 public:
  /// Fails with the reason if NVRTC cannot be used for this GPU.
  static result<std::unique_ptr<programs>> open(const engine_context& context);
  programs(const programs&) = delete;
  ~programs();

  /// Returns the program of a source, and orders its compilation if that was not done yet. Returns null if there are
  /// too many.
  std::shared_ptr<const program> order(const source& s);
  /// Waits until the program is ready, or has failed.
  void wait_for(const program& p);
  /// Returns a line for `troupe doctor`.
  std::string notes() const;

 private:
  struct job {
    std::shared_ptr<program> to;
    std::string text;
    std::vector<source::kernel> kernels;
  };
  programs(const engine_context& context, jit::nvrtc with, jit::capability gpu);
  void serve();
  result<void> make(const job& j);

  const engine_context context_;
  jit::nvrtc_builder builder_;
  plan::remarks remarks_;

  mutable std::mutex lock_;
  std::condition_variable ordered_, done_;
  std::deque<job> jobs_;
  std::unordered_map<std::string, std::shared_ptr<program>> all_;  // by source
  std::atomic<bool> ends_{false};
  std::thread thread_;  // runs from the first order on
};

}  // namespace troupe::dnn::generated
