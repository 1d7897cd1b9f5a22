// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands in files of CUDA beside plain kernels, and in which words: such files come as they are.
#include <filesystem>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

constexpr int threads = 64;

// Runs `k(int* y, const int* x, int n)` of one block, where x is 0, 1, 2 ..., and says what is in y afterwards.
std::vector<int> run_k(const loaded_image& image, const std::string& kernel = "k") {
  std::vector<int> x(threads), y(threads, -1);
  for (int t = 0; t < threads; ++t) x[static_cast<std::size_t>(t)] = t;
  run(image, kernel, {1}, {threads}, threads * sizeof(int), y.data(), static_cast<const int*>(x.data()), threads);
  return y;
}

std::vector<int> run_k(const std::string& source, const translate_options& options = {}) {
  return run_k(load_text(source, options));
}

std::vector<int> each(int (*of)(int)) {
  std::vector<int> out;
  for (int t = 0; t < threads; ++t) out.push_back(of(t));
  return out;
}

std::string messages_of(const std::string& source, const translate_options& options = {}) {
  const compiled c = compile_text(source, options, {.optimisation = 0});
  return c.bytes.empty() ? c.messages : "it compiles";
}

std::string failure(const loaded_image& image, const std::string& kernel, void* const* arguments) {
  launcher one(1);
  const loaded_kernel* k = image.find_kernel(kernel);
  if (!k) return "there is no kernel " + kernel;
  const auto done = one.launch(*k, {1}, {threads}, 0, arguments);
  return done ? "it succeeded" : std::string(to_string(done.error().reaction())) + ": " + done.error().text();
}

std::string failure_of_k(const loaded_image& image, const std::string& kernel = "k") {
  std::vector<int> y(threads);
  int* to = y.data();
  const int* from = y.data();
  int n = threads;
  void* arguments[] = {&to, &from, &n};
  return failure(image, kernel, arguments);
}

}  // namespace

TEST(sources, shared_variables_may_say_that_they_are_static) {
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

TEST(sources, pointers_with_qualifiers_may_be_moved_between_barriers) {
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

// What NVIDIA's helper_math.h, llm.c and others call their own functions.
TEST(sources, names_that_are_not_cudas_are_free) {
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

TEST(sources, versions_of_cuda_and_its_small_headers_are_there) {
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

// A toolkit's own headers lie beside each other, and include each other from there.
TEST(sources, a_folder_with_a_toolkits_headers_does_no_harm) {
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

// g++ 12 breaks on a local class whose member is sized so.
TEST(sources, constants_of_a_kernel_may_size_arrays_that_live_across_barriers) {
  const compiled c = compile_text(R"(
template <const int Rows, const int Columns>
__global__ void k(int* y, const int* x, int n) {
  constexpr int row_tiles = (Rows + 3) / 4;
  constexpr int column_tiles = Columns / 2;
  int results[row_tiles * column_tiles * 2] = {0};
  int part[Rows] = {0};
  alignas(16) int aligned[4] = {0, 1, 2, 3};
  for (int k = 0; k < n; k += 32) {
    for (int i = 0; i < row_tiles * column_tiles * 2; ++i) results[i] += x[i];
    __syncthreads();
    for (int i = 0; i < Rows; ++i) part[i] += results[i % column_tiles] + aligned[i % 4];
    __syncthreads();
  }
  y[threadIdx.x] = results[threadIdx.x % 4] + part[1];
})",
                                  {.kernels = {"k<8, 4>"}});
  ASSERT_FALSE(c.bytes.empty()) << c.messages;
  EXPECT_TRUE(c.how("k").starts_with("split")) << c.how("k");
  EXPECT_EQ(run_k(load(c), "k<8, 4>"), each([](int t) { return 2 * (t % 4) + 1 + 1 + 2 + 1; }));
}

TEST(sources, the_hosts_code_in_a_file_of_kernels_is_nobodys_business) {
  const std::string source = R"(
#include <stdio.h>
#include <vector>
#define CHECK(call) check((call), __FILE__, __LINE__)
void check(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) { printf("%s\n", cudaGetErrorString(code)); exit(1); }
}
#define N 64
inline int doubled(int x) { return 2 * x; }
constexpr int offset() { return 3; }
const int addend = offset();
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = doubled(x[threadIdx.x]) + addend; }
template <class T>
class device_vector {
 public:
  explicit device_vector(size_t n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
  ~device_vector() { cudaFree(data); }
  T* data;
};
struct timer {
  cudaEvent_t begin, end;
  void start();
} of_all;
void timer::start() { cudaEventRecord(begin); }
static cudaStream_t stream;
void launch(int* y, const int* x, cudaStream_t s) {
  k<<<1, N, 0, s>>>(y, x, N);
  CHECK(cudaGetLastError());
}
void launch_as_some_format_it(int* y, const int* x) { k << <1, N >> > (y, x, N); }
template <class T> void launch_any(T* y, const T* x) { k<<<1, N>>>(y, x, N); }
template void launch_any<int>(int*, const int*);
int main(int argc, char** argv) {
  device_vector<int> x(N), y(N);
  timer t;
  launch(y.data, x.data, stream);
  launch_any(y.data, x.data);
}
)";
  EXPECT_EQ(run_k(source), each([](int t) { return 2 * t + 3; }));
  EXPECT_EQ(run_k(source, {.kernels = {"k"}}), each([](int t) { return 2 * t + 3; }));
}

TEST(sources, enumerations_without_a_name_stay) {
  EXPECT_EQ(run_k(R"(
typedef enum { NONE, TWICE } factor_t;
enum { ADDEND = 3 };
__device__ int scaled(int x, factor_t f) { return f == TWICE ? 2 * x : x; }
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = scaled(x[threadIdx.x], TWICE) + ADDEND; }
)"),
            each([](int t) { return 2 * t + 3; }));
}

TEST(sources, kernels_that_were_not_asked_for_may_be_whatever_they_are) {
  EXPECT_EQ(run_k(R"(
__global__ void other(undeclared_type* y) { y->no_member = 1; }
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = x[threadIdx.x]; }
)",
                  {.kernels = {"k"}}),
            each([](int t) { return t; }));
}

TEST(sources, a_function_that_launches_fails_the_kernel_that_calls_it) {
  const loaded_image image = load_text(R"(
__global__ void inner() {}
struct task {
  int n;
  void run() { inner<<<1, n>>>(); }
};
__global__ void k(int* y, const int* x, int n) {
  task t = {n};
  if (x[0] == 0) t.run();
}
)",
                                       {.kernels = {"k"}});
  const std::string text = failure_of_k(image);
  EXPECT_TRUE(
      text.starts_with("unsupported: launch: kernel k was stopped in block (0, 0, 0): a function that launches "
                       "kernels (<<<...>>>) is the application's"))
      << text;
  EXPECT_NE(text.find("source.cu:5"), std::string::npos) << text;
}

TEST(sources, a_kernel_that_needs_a_gpu_is_refused_alone) {
  const std::string source = R"(
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void of_gpus(int* y, const int* x, int n) {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  y[lane] = x[lane];
}
__global__ void reads_a_texture(cudaTextureObject_t t, float* y) { *y = tex2D<float>(t, 0.5f, 0.5f); }
)";
  const compiled c = compile_text(source, {});
  ASSERT_FALSE(c.bytes.empty()) << c.messages;
  ASSERT_EQ(c.text.left_out.size(), 2u);
  EXPECT_NE(to_string(c.text.left_out[0]).find("source.cu:5: error: PTX (asm) runs on GPUs only"), std::string::npos)
      << to_string(c.text.left_out[0]);
  const loaded_image image = load(c);
  EXPECT_EQ(run_k(image), each([](int t) { return t; }));
  ASSERT_TRUE(image.find_kernel("of_gpus"));
  EXPECT_EQ(image.find_kernel("of_gpus")->attributes.how, execution::never);
  const std::string text = failure_of_k(image, "of_gpus");
  EXPECT_TRUE(text.starts_with("unsupported: launch: kernel of_gpus needs a GPU: ")) << text;
  EXPECT_NE(text.find("source.cu:5: PTX (asm) runs on GPUs only"), std::string::npos) << text;
  EXPECT_EQ(image.find_kernel("reads_a_texture")->attributes.how, execution::never);

  EXPECT_EQ(run_k(source, {.kernels = {"k"}}), each([](int t) { return t; }));
  EXPECT_NE(messages_of(source, {.kernels = {"k", "of_gpus"}}).find("source.cu:5: error: PTX (asm) runs on GPUs only"),
            std::string::npos);
}

TEST(sources, a_function_that_needs_a_gpu_fails_those_who_reach_it) {
  const loaded_image image = load_text(R"(
#include <mma.h>
using namespace nvcuda;
__device__ __forceinline__ int lane() {
  int id;
  asm("mov.u32 %0, %%laneid;"
      : "=r"(id));
  return id;
}
template <class T> __device__ void fill(T& f) { wmma::fill_fragment(f, 0.0f); }
__global__ void k(int* y, const int* x, int n) {
  asm volatile("" ::: "memory");
  y[threadIdx.x] = n > 100 ? lane() : x[threadIdx.x];
}
__global__ void reaches(int* y, const int* x, int n) { y[threadIdx.x] = lane(); }
)",
                                       {.kernels = {"k", "reaches"}});
  EXPECT_EQ(run_k(image), each([](int t) { return t; }));
  const std::string text = failure_of_k(image, "reaches");
  EXPECT_TRUE(
      text.starts_with("unsupported: launch: kernel reaches was stopped in block (0, 0, 0): PTX (asm) runs on "
                       "GPUs only"))
      << text;
  EXPECT_NE(text.find("source.cu:6"), std::string::npos) << text;
}

TEST(sources, the_grid_is_a_group_with_ranks_and_sizes) {
  const std::string source = R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned long long rank() { return cg::this_grid().thread_rank(); }
__global__ void k(unsigned* y) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = grid.thread_rank();
  unsigned* at = y + 8 * i;
  at[0] = rank();
  at[1] = grid.size() + (grid.num_threads() - grid.size());
  at[2] = grid.num_blocks();
  at[3] = grid.block_rank();
  at[4] = grid.group_dim().x * 100 + grid.dim_blocks().y;
  at[5] = grid.block_index().x * 100 + grid.block_index().y;
  at[6] = grid.thread_index().x * 100 + grid.thread_index().y;
  at[7] = grid.is_valid();
}
)";
  for (const bool only_fibers : {false, true}) {
    const loaded_image image = load_text(source, {.only_fibers = only_fibers});
    std::vector<unsigned> y(8 * 3 * 2 * 4 * 2);
    run(image, "k", {3, 2}, {4, 2}, 0, y.data());
    for (unsigned block_y = 0, i = 0; block_y < 2; ++block_y)
      for (unsigned block_x = 0; block_x < 3; ++block_x)
        for (unsigned thread_y = 0; thread_y < 2; ++thread_y)
          for (unsigned thread_x = 0; thread_x < 4; ++thread_x, ++i) {
            const std::vector<unsigned> got(y.begin() + 8 * i, y.begin() + 8 * (i + 1));
            EXPECT_EQ(got, (std::vector<unsigned>{i, 48, 6, block_y * 3 + block_x, 302, block_x * 100 + block_y,
                                                  (block_x * 4 + thread_x) * 100 + block_y * 2 + thread_y, 0}))
                << i;
          }
  }
}

TEST(sources, the_barrier_of_the_grid_is_refused_and_said_to_be) {
  for (const std::string wait : {"grid.sync();", "cg::sync(grid);", "cg::this_grid().sync();"}) {
    const std::string text = messages_of(
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* y) {\n  auto grid "
        "= "
        "cg::this_grid();\n  " +
        wait + "\n}\n");
    EXPECT_NE(text.find("source.cu:5: error: a barrier of the whole grid would need all blocks at once"),
              std::string::npos)
        << text;
  }
  const loaded_image image = load_text(R"(
#include <cooperative_groups.h>
__device__ void meet(cooperative_groups::grid_group g) {
  g.sync();
}
__global__ void k(int* y, const int* x, int n) {
  if (n > 3) meet(cooperative_groups::this_grid());
}
)");
  const std::string text = failure_of_k(image);
  EXPECT_TRUE(text.starts_with("unsupported: ")) << text;
  EXPECT_NE(text.find("a barrier of the whole grid would need all blocks at once"), std::string::npos) << text;
  EXPECT_NE(text.find("source.cu:4"), std::string::npos) << text;
}

TEST(sources, a_bracket_without_a_partner_is_named_where_it_stands) {
  const std::pair<const char*, const char*> cases[] = {
      {"__global__ void f(int* x) {\n  if (*x > 0) {\n    *x = 1;\n}\n\n__global__ void k() {}\n",
       "source.cu:1: error: this '{' is not closed before the __global__ in line 6"},
      {"__global__ void k(int* x) {\n  *x = 1;\n", "source.cu:1: error: this '{' is not closed before the end"},
      {"__global__ void k(int* x) {\n  *x = (1 + 2;\n}\n",
       "source.cu:2: error: this '(' is not closed before the '}' in line 3"},
      {"__global__ void k(int* x) {\n  *x = 1;\n}\n}\n", "source.cu:4: error: this '}' closes nothing"},
      {"__global__ void k(int* x) {\n  x[0 = 1;\n}\n", "source.cu:2: error: this '[' is not closed before the '}'"},
  };
  for (const auto& [source, message] : cases) {
    const std::string text = messages_of(source);
    EXPECT_NE(text.find(message), std::string::npos) << "missing: " << message << "\nin: " << text;
    EXPECT_EQ(text.find("image's table"), std::string::npos) << text;
  }
}

// Of each: the line and column that the compiler must name.
TEST(sources, the_compilers_messages_name_the_column_that_the_user_sees) {
  const std::pair<std::string, const char*> cases[] = {
      {"__global__ void k(int* x) { *x = undeclared; }", "source.cu:1:34: error:"},
      {"__global__ void k(int* x) {\n  __shared__ int s[4]; s[0] = undeclared; }", "source.cu:2:31: error:"},
      {"__global__ void k(int* x) {\n  __shared__ int s[4]; s[0] = 1;\n  __syncthreads(); *x = undeclared; }",
       "source.cu:3:25: error:"},
      {"__global__ void k(int* x, int n) {\n  int i = threadIdx.x; if (i < undeclared) return;\n  x[i] = n; }",
       "source.cu:2:32: error:"},
      {"#define TWICE(x) ((x) + (x))\n__global__ void k(int* x) {\n  *x = TWICE(*x) + TWICE(2) + undeclared; }",
       "source.cu:3:31: error:"},
      {"__global__ void k(int* x) {\n  /* a comment */ *x = /* and one */ undeclared; }", "source.cu:2:38: error:"},
      {"__device__ __forceinline__ int f(int a) { return undeclared; }\n__global__ void k(int* x) { *x = f(1); }",
       "source.cu:1:50: error:"},
      {"__global__ void k(int* x) {\n\tfor (int i = 0; i < 4; ++i) {\n\t\t__syncthreads();\n\t\tx[i] = "
       "undeclared;\n\t}\n}",
       "source.cu:4:"},
  };
  for (const auto& [source, where] : cases)
    for (const bool only_fibers : {false, true}) {
      const std::string text = messages_of(source, {.only_fibers = only_fibers});
      EXPECT_NE(text.find(where), std::string::npos) << "missing: " << where << "\nin: " << text;
      for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        EXPECT_LT(end - at, 250u) << text.substr(at, end - at);
      }
    }
}

}  // namespace troupe::cuda_on_host::testing
