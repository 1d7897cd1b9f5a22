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

/// A kernel that is compiled in the background, then loaded to the GPU. Thread-safe.
class generated_kernel {
 public:
  /// Returns the kernel, or nullptr if it is not ready or could not be compiled.
  CUkernel get() const noexcept { return state_.load(std::memory_order_acquire) == state::ready ? kernel_ : nullptr; }

 private:
  friend class kernel_compiler;
  enum class state : std::uint8_t { compiling, ready, failed };
  std::atomic<state> state_{state::compiling};
  cuda::code_library library_;
  CUkernel kernel_ = nullptr;
};

/// The kernels of a source, in the order of source::kernels; null for those that are not compiled. Plans whose kernels
/// have the same text share them.
using generated_kernels = std::vector<std::shared_ptr<const generated_kernel>>;

/// Compiles kernels with NVRTC on threads of its own, and loads them. They live as long as this object, because
/// recorded graphs may use them. Thread-safe.
class kernel_compiler {
 public:
  /// Makes a compiler for `gpu`, the GPU of the context. Fails with the reason if NVRTC cannot be used for this GPU.
  static result<std::unique_ptr<kernel_compiler>> open(const engine_context& context, const cuda::gpu_properties& gpu);
  kernel_compiler(const kernel_compiler&) = delete;
  ~kernel_compiler();

  /// Returns the kernels of a source, and requests the compilation of those that no earlier call requested, as long as
  /// they are not more than the compiler accepts (8192).
  generated_kernels request_compilation(const source& s);
  /// Waits until the kernels are ready or their compilation has failed. Compiles them before all others that are
  /// requested.
  void wait_for(const generated_kernels& all);
  /// Returns the line of the engine's notes about generated kernels, for `troupe doctor`.
  std::string notes() const;

 private:
  struct job {
    std::shared_ptr<generated_kernel> to;
    std::string text;
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
  std::unordered_map<std::string, std::shared_ptr<generated_kernel>> all_;  // by text
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;  // each starts with a request
};

}  // namespace troupe::dnn::generated
