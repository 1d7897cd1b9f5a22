// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What files of CUDA contain besides plain kernels, and in which forms: such files are used unchanged.
#include "sources_fixture.hpp"

namespace troupe::cuda_on_host::testing::sources_tests {
namespace {

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

TEST(sources, host_code_beside_kernels_is_ignored) {
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

TEST(sources, unnamed_enumerations_are_kept) {
  EXPECT_EQ(run_k(R"(
typedef enum { NONE, TWICE } factor_t;
enum { ADDEND = 3 };
__device__ int scaled(int x, factor_t f) { return f == TWICE ? 2 * x : x; }
__global__ void k(int* y, const int* x, int n) { y[threadIdx.x] = scaled(x[threadIdx.x], TWICE) + ADDEND; }
)"),
            each([](int t) { return 2 * t + 3; }));
}

TEST(sources, kernels_that_are_not_requested_may_be_unsupported) {
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

TEST(sources, a_function_that_needs_a_gpu_fails_the_kernels_that_reach_it) {
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

TEST(sources, the_grid_barrier_is_refused_with_the_reason) {
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

TEST(sources, an_unmatched_bracket_is_reported_with_its_place) {
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

// The line and column that the compiler must name for each.
TEST(sources, compiler_messages_name_the_users_columns) {
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

}  // namespace
}  // namespace troupe::cuda_on_host::testing::sources_tests
