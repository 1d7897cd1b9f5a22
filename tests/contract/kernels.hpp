// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <mutex>
#include <troupe/jit/jit.hpp>
#include <troupe/module/module.hpp>

#include "harness.hpp"

/// What the tests of jit and module share.
namespace troupe::whole {

/// What images/kernels.cpp is on the host, for a GPU.
inline constexpr const char* kernels_for_a_gpu = R"(
struct affine {
  float scale, offset;
  double extra;
};
__device__ float table[16] = {1, 2, 3};
__constant__ int factor = 2;
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void saxpy(float a, const float* x, float* y, int n) {
  if (index() < n) y[index()] += a * x[index()];
}
namespace ns {
template <class T, int k>
__global__ void __launch_bounds__(256) apply(T f, float* y) {
  y[index()] = f.scale * y[index()] + f.offset + static_cast<float>(f.extra);
}
}
__global__ void clear(void* to) { static_cast<unsigned char*>(to)[index()] = 0; }
__global__ void accumulate(const float* x) { atomicAdd(&table[index() % 16], factor * x[index()]); }
__global__ void nothing() {}
__global__ void trap() { __trap(); }
__global__ void crash() { *reinterpret_cast<volatile int*>(16) = 1; }
)";

/// The image that the tests load: made by the build for the host, and for a GPU by that GPU's jit.
inline std::vector<std::byte> test_image() {
  if (engine_under_test() != "host") {
    static const std::vector<std::byte> compiled = [] {
      runtime rt;
      const device gpu = rt.open_device(with_test_engines());
      const jit::recipe r{
          .source = kernels_for_a_gpu,
          .name = "kernels.cu",
          .kernels = {"saxpy", "ns::apply<affine, 1>", "clear", "accumulate", "nothing", "trap", "crash"},
          .globals = {"table", "factor"}};
      return jit::compile(gpu, r).image().get().value();
    }();
    return compiled;
  }
  std::ifstream file(path_of("TROUPE_TEST_IMAGE", TROUPE_TEST_IMAGE), std::ios::binary);
  const std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
  const auto* first = reinterpret_cast<const std::byte*>(all.data());
  return {first, first + all.size()};
}

/// The struct that its kernel ns::apply takes.
struct affine {
  float scale, offset;
  double extra;
};

template <class T>
buffer<T> uploaded(const device& gpu, const std::vector<T>& data) {
  auto b = gpu.alloc<T>(data.size());
  gpu.upload(b, data);
  return b;
}

/// Keeps a program loaded, for requests that name parts of it and no handle.
template <class Program>
Program kept(Program p) {
  static std::mutex lock;
  static std::vector<Program> all;
  const std::scoped_lock guard(lock);
  return all.emplace_back(std::move(p));
}

/// The whole text of an error.
inline std::string text_of(const error& e) { return e.text(); }
template <class T>
std::string text_of(pending<T> p) {
  return error_of(std::move(p)).text();
}

}  // namespace troupe::whole
