// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/gpu/steps.hpp>
#include <bench/raw/raw_dnn.hpp>
#include <bench/raw/raw_matmul.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Direct calls of a vendor's driver and libraries on one GPU, made in this process, with which Troupe is compared.
/// They are in a plug-in, libexec/troupe/bench/raw.cuda.so, so that the program itself does not link CUDA. Not
/// thread-safe. All functions throw `bad_result` if a call fails.
namespace troupe::bench {

/// A kernel, from an image that has only one.
class raw_kernel {
 public:
  virtual ~raw_kernel() = default;
  /// Launches one block of one thread, without arguments.   cuLaunchKernel
  virtual void launch() = 0;
  /// Waits for earlier launches: the GPU then writes a word of this process's memory, which this thread polls.
  /// cuStreamWriteValue64
  virtual void poll_until_done() = 0;
  /// Waits for all launches.   cuStreamSynchronize
  virtual void synchronize() = 0;
  /// Records a graph of launches in branches; the launches of a branch are ordered.   cuGraphAddKernelNode,
  /// cuGraphInstantiate
  virtual void record(int launches, int branches) = 0;
  /// Launches the graph.   cuGraphLaunch
  virtual void launch_recorded() = 0;
};

/// The kernels of bench/gpu/steps.hpp, on values that are 0 at first.   cuLaunchKernel
class raw_steps {
 public:
  virtual ~raw_steps() = default;
  virtual void launch(const step& s, std::uint32_t by) = 0;
  virtual void synchronize() = 0;
  virtual std::vector<std::uint32_t> numbers() = 0;
};

/// Square products, C = A * B, column-major, each with its own matrices.   cublasSgemm, cublasGemmEx
class raw_products {
 public:
  virtual ~raw_products() = default;
  virtual void multiply(int which) = 0;
  virtual void synchronize() = 0;
  virtual void download(int which, std::span<std::byte> c) = 0;
};
enum class raw_number : std::uint8_t { f32, f16 };  ///< f16 is summed in f32

/// Forward transforms of complex64 with one plan. Each call runs one batch, on its own part of the memory.
/// cufftExecC2C
class raw_transforms {
 public:
  virtual ~raw_transforms() = default;
  virtual void run(int which) = 0;
  /// Waits for earlier transforms: see raw_kernel.
  virtual void poll_until_done() = 0;
  virtual void synchronize() = 0;
  /// Copies results to the host, from element `first` on.
  virtual void download(std::size_t first, std::span<std::byte> elements) = 0;
};

/// Copies of one block between the GPU and host memory.
class raw_copies {
 public:
  virtual ~raw_copies() = default;
  /// Copies from and to memory that the driver has pinned.   cuMemHostAlloc, cuMemcpyHtoDAsync, cuMemcpyDtoHAsync
  virtual void in() = 0;
  virtual void out() = 0;
  /// Copies from ordinary memory.   cuMemcpyHtoD
  virtual void in_from(const void* pageable) = 0;
};

/// Chunks that are uploaded, processed by a kernel (const float* x, float* y, int n) and downloaded. Each of these
/// steps runs in its own stream, after an event of the previous one.
class raw_pipeline {
 public:
  virtual ~raw_pipeline() = default;
  virtual float* input(int chunk) = 0;  ///< pinned host memory
  virtual const float* output(int chunk) const = 0;
  virtual void run() = 0;
};

class raw_gpu {
 public:
  virtual ~raw_gpu() = default;
  /// Returns text such as "NVIDIA H200, driver for CUDA 13.0".
  virtual std::string description() const = 0;
  /// Loads the kernel of an image, which `jit::program::image` has returned.
  virtual std::unique_ptr<raw_kernel> kernel(std::span<const std::byte> image) = 0;
  virtual std::unique_ptr<raw_steps> steps(std::span<const std::byte> image) = 0;
  virtual std::unique_ptr<raw_products> products(raw_number type, int n, int count, std::span<const std::byte> a,
                                                 std::span<const std::byte> b) = 0;
  /// Makes products. The values of each operand repeat. `third` has those of the bias, n of them, or of C, if there is
  /// one.
  virtual std::unique_ptr<raw_matmuls> matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                               std::span<const std::byte> b, std::span<const std::byte> third) = 0;
  /// Makes groups. The values of each operand repeat.
  virtual std::unique_ptr<raw_groups> groups(std::span<const std::int32_t> sizes, int n, int k,
                                             std::span<const std::byte> a, std::span<const std::byte> b) = 0;
  /// Makes `count` blocks, whose size is a multiple of 16 bytes.
  virtual std::unique_ptr<raw_reads> reads(std::size_t bytes, int count) = 0;
  /// Makes transforms. `n` has 1 to 3 extents. The input repeats `one`.
  virtual std::unique_ptr<raw_transforms> transforms(std::span<const int> n, int batch, int count,
                                                     std::span<const std::byte> one) = 0;
  virtual std::unique_ptr<raw_copies> copies(std::size_t bytes) = 0;
  virtual std::unique_ptr<raw_pipeline> pipeline(std::span<const std::byte> image, int chunks, int elements,
                                                 int block) = 0;
  virtual std::unique_ptr<raw_dnn> dnn() = 0;
  /// Allocates and frees once.   cuMemAllocAsync, cuMemFreeAsync
  virtual void alloc_and_free(std::size_t bytes) = 0;
  /// Returns the nanoseconds from the launch of a kernel with a wild pointer until the driver reports the fault.
  /// Afterwards, nothing in this process works.   cuStreamQuery
  virtual std::int64_t fault() = 0;
};

/// The symbol that the plug-in exports.
inline constexpr const char* raw_gpu_symbol = "troupe_bench_raw_gpu";
using raw_gpu_maker = raw_gpu*(int ordinal);

}  // namespace troupe::bench
