// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What files of CUDA contain besides plain kernels, and in which forms: such files are used unchanged.
#include "sources_fixture.hpp"

namespace troupe::cuda_on_host::testing::sources_tests {
namespace {

TEST(sources, shared_variables_may_be_declared_static) {
  for (const std::string words :
       {"static __shared__ int s[64];", "__shared__ static int s[64];", "static int __shared__ s[64];",
        "__shared__ extern int s[];", "extern __shared__ int s[];", "static __shared__ volatile int s[64];"})
    for (const bool only_fibers : {false, true}) {
      const compiled c = compile_text("__global__ void k(int* y, const int* x, int n) {\n  " + words +
                                          "\n  s[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n"
                                          "  y[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n",
                                      {.only_fibers = only_fibers});
      ASSERT_FALSE(c.bytes.empty()) << words << "\n" << c.messages;
      EXPECT_EQ(run_k(load(c)), each([](int t) { return threads - 1 - t; })) << words;
      EXPECT_EQ(c.how("k").substr(0, 5), only_fibers ? "fiber" : "split") << words;
    }
}

TEST(sources, qualified_pointers_may_change_between_barriers) {
  for (const std::string qualified : {"const int* __restrict__ x", "volatile const int* x", "const int* __restrict x",
                                      "const volatile int* __restrict__ x"}) {
    const compiled c = compile_text("__global__ void k(int* __restrict__ y, " + qualified + R"(, int n) {
  __shared__ int s[64];
  x += threadIdx.x;
  y += threadIdx.x;
  s[threadIdx.x] = 0;
  for (int i = 0; i < 2; ++i) {
    s[threadIdx.x] += *x;
    __syncthreads();
    x += 64 - 2 * threadIdx.x - 1;
    x -= 64 - 2 * threadIdx.x - 1;
  }
  *y = s[n - 1 - threadIdx.x];
})",
                                    {});
    ASSERT_FALSE(c.bytes.empty()) << qualified << "\n" << c.messages;
    EXPECT_EQ(c.how("k").substr(0, 5), "split") << qualified;
    EXPECT_EQ(run_k(load(c)), each([](int t) { return 2 * (threads - 1 - t); })) << qualified;
  }
}

// Names that NVIDIA's helper_math.h, llm.c and others give their own functions.
TEST(sources, names_outside_cuda_can_be_defined_by_the_source) {
  EXPECT_EQ(run_k(R"(
#include <math.h>
#include <cmath>
#include <stdlib.h>
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
__device__ float lerp(float start, float end, float weight) { return fma(weight, end, fma(-weight, start, start)); }
__device__ float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
__device__ int clamp(int f, int a, int b) { return max(a, min(f, b)); }
__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
__device__ float length(float2 v) { return sqrtf(dot(v, v)); }
__device__ float2 normalize(float2 v) { return make_float2(v.x * rsqrtf(dot(v, v)), v.y * rsqrtf(dot(v, v))); }
__device__ float2 fminf(float2 a, float2 b) { return make_float2(fminf(a.x, b.x), fminf(a.y, b.y)); }
__device__ float2 floorf(float2 v) { return make_float2(floorf(v.x), floorf(v.y)); }
__device__ float2 make_float2(float s) { return make_float2(s, s); }
__device__ float saturatef(float x) { return clamp(x, 0.0f, 1.0f); }
__device__ float fracf(float v) { return v - floorf(v); }
__device__ float step(float a, float x) { return x < a ? 0 : 1; }
__device__ int block(int x) { return x; }
__device__ int current(int x) { return x; }
__device__ int barrier(int x) { return x; }
__device__ unsigned long long globaltimer_ns() { return 1; }
template <class T> __device__ void swap(T& a, T& b) { T c = a; a = b; b = c; }
__global__ void k(int* y, const int* x, int n) {
  int i = threadIdx.x, j = 0;
  float2 v = normalize(make_float2(3.0f) + make_float2(0.0f, 1.0f));
  float l = length(v) + saturatef(2.0f) + step(0.0f, 1.0f) + fracf(2.0f) + floorf(fminf(v, v)).x;
  swap(i, j);
  y[j] = (int)lerp((float)x[j], (float)n, 0.5f) + clamp(block(current(barrier((int)(l + 0.5f)))), 0, 3);
})"),
            each([](int t) { return (t + threads) / 2 + 3; }));
}

TEST(sources, version_macros_and_small_headers_of_cuda_are_available) {
  const std::string headers = R"(
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "cuComplex.h"
#include "cuda_profiler_api.h"
#include <device_functions.h>
#include <cuda_pipeline.h>
#include <mma.h>
#if CUDART_VERSION < 13000 || CUDA_VERSION < 13000 || __CUDACC_VER_MAJOR__ < 13 || !defined(__CUDACC_VER_MINOR__)
#error "no version"
#endif
)";
  EXPECT_EQ(run_k(headers + R"(
__global__ void k(int* y, const int* x, int n) {
  extern __shared__ int s[];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  cuDoubleComplex a = make_cuDoubleComplex(s[n - 1 - threadIdx.x], 1), b = make_cuDoubleComplex(0, 1);
  cuDoubleComplex c = cuCdiv(cuCsub(cuCmul(a, b), cuConj(b)), b);
  y[threadIdx.x] = (int)(cuCreal(c) + 0.5) + (int)cuCabs(cuCadd(b, cuCmul(b, b))) + (int)cuCimagf(make_cuComplex(1, 2));
})"),
            each([](int t) { return threads - t + 3; }));
}

TEST(sources, a_block_as_a_group_has_barriers_ranks_and_sizes) {
  const std::string source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* y, const int* x, int n) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  s[t] = x[t] + block.group_dim().x + block.dim_threads().y;
  cg::sync(block);
  for (int i = 0; i < 2; ++i) {
    int other = s[block.size() - 1 - block.thread_rank()];
    block.sync();
    s[t] = other + block.group_index().x;
    cg::sync(
        block);
  }
  y[block.thread_index().x + 8 * block.thread_index().y] = s[block.num_threads() - 1 - t];
})";
  for (const bool only_fibers : {false, true}) {
    const compiled c = compile_text(source, {.only_fibers = only_fibers});
    ASSERT_FALSE(c.bytes.empty()) << c.messages;
    EXPECT_EQ(c.how("k").substr(0, 5), only_fibers ? "fiber" : "split") << c.how("k");
    std::vector<int> x(threads), y(threads), want(threads);
    for (int t = 0; t < threads; ++t) {
      x[static_cast<std::size_t>(t)] = t;
      want[static_cast<std::size_t>(t)] = threads - 1 - t + 8 + 8;
    }
    run(load(c), "k", {1}, {8, 8}, 0, y.data(), static_cast<const int*>(x.data()), threads);
    EXPECT_EQ(y, want);
  }
}

TEST(sources, groups_copy_to_shared_memory) {
  EXPECT_EQ(run_k(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(int* y, const int* x, int n) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, 40 * sizeof(int));
  cg::memcpy_async(block, s + 40, 100, x + 40, n - 40);
  cg::wait(block);
  y[threadIdx.x] = s[n - 1 - threadIdx.x];
})"),
            each([](int t) { return threads - 1 - t; }));
}

// A toolkit's own headers are in one folder, and include each other from there.
TEST(sources, a_toolkits_include_folder_is_ignored) {
  const std::filesystem::path toolkit = "/usr/local/cuda/include";
  if (!std::filesystem::exists(toolkit / "vector_types.h")) GTEST_SKIP() << "there is no CUDA toolkit";
  const compiled c = compile_text(
      "#include <cuComplex.h>\n#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include "
      "\"cuda_profiler_api.h\"\n"
      "__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = (int)cuCrealf(make_cuComplex(x[threadIdx.x], "
      "0)); "
      "}\n",
      {}, {.include_folders = {toolkit.string()}});
  ASSERT_FALSE(c.bytes.empty()) << c.messages;
  EXPECT_EQ(run_k(load(c)), each([](int t) { return t; }));
}

TEST(sources, parameters_without_a_name_may_have_types_with_template_arguments) {
  const std::string source = R"(
#include <type_traits>
using std::bool_constant;
template <bool Yes>
__global__ void unnamed(int* y, const int* x, int, bool_constant<Yes>, const std::integral_constant<int, 3>) {
  y[threadIdx.x] = x[threadIdx.x] + Yes;
}
__global__ void k(int* y, const int* x, int) { y[threadIdx.x] = x[threadIdx.x] + 1; }
)";
  for (const bool only_fibers : {false, true}) {
    const loaded_image image = load_text(source, {.kernels = {"k", "unnamed<true>"}, .only_fibers = only_fibers});
    EXPECT_EQ(run_k(image), each([](int t) { return t + 1; }));
    const std::vector<int> x(threads, 7);
    std::vector<int> y(threads);
    run(image, "unnamed<true>", {1}, {threads}, 0, y.data(), x.data(), 0, true, 3);
    EXPECT_EQ(y, std::vector<int>(threads, 8));
  }
}

TEST(sources, kernels_may_have_the_names_of_other_functions_and_of_each_other) {
  const loaded_image image = load_text(R"(
__device__ int k(int x) { return x + 1; }
__device__ int k(int x, int y) { return k(x) + y; }
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = k(x[threadIdx.x], n); }
namespace ns {
struct pair { int a, b; };
__global__ void twice(pair* p, int by = 2) { p->a *= by; }
__global__ void twice(int* p, int by = 2) { *p *= by; }
}
)");
  EXPECT_EQ(run_k(image), each([](int t) { return t + 1 + threads; }));
  ASSERT_EQ(image.kernels().size(), 3u);
  const auto of = [&](const std::string& type) -> const loaded_kernel* {
    for (const loaded_kernel& k : image.kernels())
      if (k.name == "ns::twice" && k.parameters.at(0).type.starts_with(type)) return &k;
    return nullptr;
  };
  ASSERT_TRUE(of("int") && of("ns::pair"));
  int values[2] = {3, 4};
  int* to = values;
  int by = 5;
  void* arguments[] = {&to, &by};
  launcher one(1);
  ASSERT_TRUE(one.launch(*of("int"), {1}, {1}, 0, arguments));
  EXPECT_EQ(values[0], 15);
}

// g++ 12 fails on a local class whose member has such a size.

}  // namespace
}  // namespace troupe::cuda_on_host::testing::sources_tests
