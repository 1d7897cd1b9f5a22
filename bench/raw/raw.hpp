// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/// The vendor's own calls on one GPU, made in this process: what ours is measured against. They come from a plug-in,
/// libexec/troupe/bench/raw.cuda.so, so that the program itself links no CUDA. All of it is used by one thread, and
/// throws `bad_result` when a call fails.
namespace troupe::bench {

/// A kernel, of an image that has no other.
class raw_kernel {
 public:
  virtual ~raw_kernel() = default;
  /// One block of one thread, without arguments.   cuLaunchKernel
  virtual void launch() = 0;
  /// What was launched is done: the GPU then writes a word of this process's memory, and this thread looks at it until
  /// it sees that.   cuStreamWriteValue64
  virtual void look() = 0;
  /// Waits for all of it.   cuStreamSynchronize
  virtual void synchronize() = 0;
  /// A graph of so many launches, in branches, of each one after the other.   cuGraphAddKernelNode, cuGraphInstantiate
  virtual void record(int launches, int branches) = 0;
  /// cuGraphLaunch
  virtual void launch_recorded() = 0;
};

/// Square products, C = A * B, column-major, each of its own matrices.   cublasSgemm, cublasGemmEx
class raw_products {
 public:
  virtual ~raw_products() = default;
  virtual void multiply(int which) = 0;
  virtual void synchronize() = 0;
  virtual void download(int which, std::span<std::byte> c) = 0;
};
enum class raw_number : std::uint8_t { f32, f16 };  ///< f16 is summed in f32

/// Forward transforms of complex64, of one plan: as many as its batch in a call, each call with its own part of the
/// memory.   cufftExecC2C
class raw_transforms {
 public:
  virtual ~raw_transforms() = default;
  virtual void run(int which) = 0;
  /// What was run is done: see raw_kernel.
  virtual void look() = 0;
  virtual void synchronize() = 0;
  /// The result from so many elements on.
  virtual void download(std::size_t first, std::span<std::byte> elements) = 0;
};

/// Copies of one block between the GPU and memory here.
class raw_copies {
 public:
  virtual ~raw_copies() = default;
  /// From and to memory that the driver has pinned.   cuMemHostAlloc, cuMemcpyHtoDAsync, cuMemcpyDtoHAsync
  virtual void in() = 0;
  virtual void out() = 0;
  /// From ordinary memory.   cuMemcpyHtoD
  virtual void in_from(const void* pageable) = 0;
};

/// Chunks that come in, go through a kernel (const float* x, float* y, int n) and go out again, each step on a stream
/// of its own behind an event of the one before.
class raw_pipeline {
 public:
  virtual ~raw_pipeline() = default;
  virtual float* input(int chunk) = 0;  ///< pinned memory here
  virtual const float* output(int chunk) const = 0;
  virtual void run() = 0;
};

class raw_gpu {
 public:
  virtual ~raw_gpu() = default;
  /// "NVIDIA H200, driver for CUDA 13.0"
  virtual std::string description() const = 0;
  /// `image` is what `jit::program::image` gives.
  virtual std::unique_ptr<raw_kernel> kernel(std::span<const std::byte> image) = 0;
  virtual std::unique_ptr<raw_products> products(raw_number type, int n, int count, std::span<const std::byte> a,
                                                 std::span<const std::byte> b) = 0;
  /// `n` has 1 to 3 extents. The input is what `one` says, again and again.
  virtual std::unique_ptr<raw_transforms> transforms(std::span<const int> n, int batch, int count,
                                                     std::span<const std::byte> one) = 0;
  virtual std::unique_ptr<raw_copies> copies(std::size_t bytes) = 0;
  virtual std::unique_ptr<raw_pipeline> pipeline(std::span<const std::byte> image, int chunks, int elements,
                                                 int block) = 0;
  /// Once there and back.   cuMemAllocAsync, cuMemFreeAsync
  virtual void alloc_and_free(std::size_t bytes) = 0;
  /// Nanoseconds from the launch of a kernel with a wild pointer until the driver says so. Afterwards nothing here, and
  /// in this process, works any more.   cuStreamQuery
  virtual std::int64_t fault() = 0;
};

/// What the plug-in exports.
inline constexpr const char* raw_gpu_symbol = "troupe_bench_raw_gpu";
using raw_gpu_maker = raw_gpu*(int ordinal);

}  // namespace troupe::bench
