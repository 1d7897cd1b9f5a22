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
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/plan/remarks.hpp>
#include <troupe/worker/engine.hpp>
#include <unordered_map>
#include <vector>

namespace troupe::dnn::generated {

/// The kernels of one source. They are compiled in the background, then loaded to the GPU. Thread-safe.
class generated_kernels {
 public:
  /// Returns the kernels in the order of source::kernels, or nullptr if they are not ready or could not be compiled.
  const std::vector<CUkernel>* kernels() const noexcept {
    return state_.load(std::memory_order_acquire) == state::ready ? &kernels_ : nullptr;
  }

 private:
  friend class kernel_compiler;
  enum class state : std::uint8_t { compiling, ready, failed };
  std::atomic<state> state_{state::compiling};
  cuda::code_library library_;
  std::vector<CUkernel> kernels_;
};

/// Compiles sources with NVRTC on its own thread, and loads their kernels. All kernels live as long as this object,
/// because recorded graphs may use them. Thread-safe.
class kernel_compiler {
 public:
  /// Makes a compiler for `gpu`, the GPU of the context. Fails with the reason if NVRTC cannot be used for this GPU.
  static result<std::unique_ptr<kernel_compiler>> open(const engine_context& context, const cuda::gpu_properties& gpu);
  kernel_compiler(const kernel_compiler&) = delete;
  ~kernel_compiler();

  /// Returns the kernels of a source, and requests their compilation if no earlier call did. Returns nullptr if the
  /// source has no kernels, or if as many sources as the compiler accepts (512) were requested before.
  std::shared_ptr<const generated_kernels> request_compilation(const source& s);
  /// Waits until the kernels are ready or their compilation has failed. Compiles them before all others that are
  /// requested.
  void wait_for(const generated_kernels& p);
  /// Returns the line of the engine's notes about generated kernels, for `troupe doctor`.
  std::string notes() const;

 private:
  struct job {
    std::shared_ptr<generated_kernels> to;
    std::string text;
    std::vector<source::kernel> kernels;
  };
  kernel_compiler(const engine_context& context, jit::nvrtc with, jit::capability gpu);
  void serve();
  result<void> make(const job& j);

  const engine_context context_;
  jit::nvrtc_builder builder_;
  plan::remarks remarks_;

  mutable std::mutex lock_;
  std::condition_variable requested_, done_;
  std::deque<job> jobs_;
  std::unordered_map<std::string, std::shared_ptr<generated_kernels>> all_;  // by source text
  std::atomic<bool> ends_{false};
  std::thread thread_;  // starts with the first request
};

}  // namespace troupe::dnn::generated
