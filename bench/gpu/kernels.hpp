// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/jit/jit.hpp>

namespace troupe::bench {

/// Returns a compiled program that is ready to launch. Throws `bad_result` with the compiler's messages.
inline jit::program compiled(const device& gpu, const char* source) {
  jit::program p = jit::compile(gpu, {.source = source, .name = "bench.cu"});
  p.ready().get().value();
  return p;
}

inline constexpr const char* empty_kernel = "__global__ void nothing() {}";

/// Kernels that write, and compare, values that depend on their position and a seed. They run on the device, so that
/// gigabytes need not be copied.
inline constexpr const char* pattern_kernels = R"(
__device__ unsigned pattern(long long i, unsigned seed) { return (unsigned)i * 2654435761u ^ (unsigned)(i >> 32) ^ seed; }

__global__ void write_pattern(unsigned* p, long long n, unsigned seed) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) p[i] = pattern(i, seed);
}

__global__ void count_wrong(const unsigned* p, long long n, unsigned seed, unsigned long long* wrong) {
  const long long step = (long long)gridDim.x * blockDim.x;
  unsigned long long mine = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) mine += p[i] != pattern(i, seed);
  if (mine != 0) atomicAdd(wrong, mine);
}
)";

/// Both of these kernels on one device.
class pattern {
 public:
  explicit pattern(const device& gpu) : gpu_(gpu), program_(compiled(gpu, pattern_kernels)) {}

  void write(const buffer<std::uint32_t>& to, std::uint32_t seed) const {
    const std::int64_t n = to.size().value();
    gpu_.tell(jit::launch{
        .kernel = program_.kernel("write_pattern"), .grid = blocks(n), .block = 256, .arguments = {out(to), n, seed}});
  }
  /// Returns how many words differ from those that `write` has written.
  pending<std::vector<std::uint64_t>> wrong_in(const buffer<std::uint32_t>& in, std::uint32_t seed) const {
    const auto wrong = gpu_.alloc<std::uint64_t>(1);
    gpu_.fill(wrong, 0);
    const std::int64_t n = in.size().value();
    gpu_.tell(jit::launch{.kernel = program_.kernel("count_wrong"),
                          .grid = blocks(n),
                          .block = 256,
                          .arguments = {in, n, seed, inout(wrong)}});
    return gpu_.download(wrong);
  }

 private:
  static std::int64_t blocks(std::int64_t n) noexcept { return std::min<std::int64_t>(1024, (n + 255) / 256); }

  device gpu_;
  jit::program program_;
};

}  // namespace troupe::bench
