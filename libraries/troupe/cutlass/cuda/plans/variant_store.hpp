// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library.hpp>
#include <troupe/cutlass/options.hpp>
#include <troupe/cutlass/prepare.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/plan/cache.hpp>
#include <troupe/worker/engine.hpp>
#include <unordered_map>

namespace troupe::cutlass {

/// A kernel, loaded on the GPU.
struct kernel_variant {
  cuda::code_library library;
  CUkernel kernel = nullptr;
  CUkernel combine = nullptr;  ///< combines partial reductions, if there are any
  unsigned threads = 0, cluster = 1, shared_bytes = 0;
  /// The rows and columns of a partial result of a reduction: see templates/results.cuh.
  unsigned part_rows = 1, part_columns = 1;
  std::size_t argument_bytes = 0;
  bool overlaps = false;  ///< true if the kernel may begin before the previous kernel has ended
  int blocks = 0;         ///< blocks that the GPU can hold at a time
  kernel_source source = kernel_source::none;
  float compile_seconds = 0;
};

/// The code of the error if a request forbids compiling and its kernel does not exist. Caches do not store this error;
/// the caller receives an `unsupported` error instead.
inline constexpr std::int64_t missing_kernel = 0x6d697373;
/// Returns the error that the caller receives.
inline error error_for_caller(const error& e) {
  return e.code() == missing_kernel ? error(reaction::unsupported, "cutlass", e.text()) : e;
}

/// The kernels of an engine: in memory, embedded, on disk, or compiled by NVRTC; and CUTLASS's kernels. Thread-safe.
class variant_store {
 public:
  static result<std::unique_ptr<variant_store>> open(const engine_context& context, const cuda::gpu_properties& gpu);

  /// Returns the kernel of a source. Compiling takes about a second.
  result<std::shared_ptr<kernel_variant>> get(const variant_source& t, compiling how);
  troupe::plan::statistics count(bool anew) { return anew ? variants_.count_anew() : variants_.count(); }
  cutlass_library& library() noexcept { return library_; }
  std::string notes();

 private:
  variant_store(const engine_context& context, const cuda::gpu_properties& gpu) : context_(context), gpu_(gpu) {}
  class being_compiled;
  bool compiles_now(const std::string& source);
  result<std::shared_ptr<kernel_variant>> make(const variant_source& t, compiling how);
  result<void> load(std::string_view image, const variant_source& t, kernel_variant& to) const;

  const engine_context context_;
  const cuda::gpu_properties gpu_;
  std::unordered_map<std::string_view, std::string_view> prebuilt_;  // images by source
  std::string prebuilt_names_;
  std::unique_ptr<jit::nvrtc_builder> builder_;
  std::string why_no_compiler_;
  std::mutex lock_;                     // guards the next member
  std::set<std::string> compiled_now_;  // sources that are being compiled
  cutlass_library library_;
  // A kernel that is dropped from the cache stays loaded as long as an execution plan, or a graph, holds it; it is
  // unloaded when the GPU is idle.
  troupe::plan::cache<kernel_variant> variants_{{.most = 1024, .before_drop = [] { (void)::cuCtxSynchronize(); }}};
};

}  // namespace troupe::cutlass
