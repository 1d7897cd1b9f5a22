// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens to kernels that break the rules, and what a launch may request.
#include <cmath>
#include <cstring>
#include <thread>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

// Returns the error of a launch that must fail.
std::string failure(const loaded_image& image, const std::string& kernel, dim grid, dim block, void* const* arguments,
                    std::uint64_t shared_bytes = 0) {
  launcher one(1);
  const loaded_kernel* k = image.find_kernel(kernel);
  if (!k) return "there is no kernel " + kernel;
  auto done = one.launch(*k, grid, block, shared_bytes, arguments);
  return done ? "it succeeded" : std::string(to_string(done.error().reaction())) + ": " + done.error().text();
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin: " << text;
}

}  // namespace

TEST(rules, divergent_barriers_are_reported_with_their_lines) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void two_sites() {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncthreads();
}
__device__ void wait_here() {
  __syncthreads();
}
extern "C" __global__ void two_sites_in_fibers() {
  if (threadIdx.x < 16)
    wait_here();
  else
    __syncthreads();
}
extern "C" __global__ void some_fall_off_the_end() {
  if (threadIdx.x < 16) wait_here();
}
extern "C" __global__ void some_return_early(int* counter) {
  if (threadIdx.x >= 16) return;
  wait_here();
  atomicAdd(counter, 1);
}
extern "C" __global__ void warps_and_barriers() {
  if (threadIdx.x < 16)
    __syncwarp();
  else
    wait_here();
}
extern "C" __global__ void different_counts() {
  for (int i = 0; i < threadIdx.x % 3; ++i) __syncthreads();
}
extern "C" __global__ void not_in_its_mask(int* out) {
  out[threadIdx.x] = __shfl_sync(0x1, 3, 0);
}
)");
  expect_contains(failure(image, "two_sites", {1}, {32}, nullptr),
                  "caller_bug: launch: kernel two_sites was stopped in block (0, 0, 0): divergent barrier");
  expect_contains(failure(image, "two_sites", {1}, {32}, nullptr), "source.cu:3; its condition holds for some threads");
  const std::string sites = failure(image, "two_sites_in_fibers", {1}, {32}, nullptr);
  expect_contains(sites, "source.cu:9; others wait at line 15");
  expect_contains(failure(image, "some_fall_off_the_end", {1}, {32}, nullptr),
                  "source.cu:9; some threads have reached the end of the kernel");
  expect_contains(failure(image, "warps_and_barriers", {1}, {32}, nullptr), "others wait at line 9");
  expect_contains(failure(image, "different_counts", {1}, {32}, nullptr), "source.cu:32");
  int values[32] = {};
  void* pointer = values;
  void* arguments[] = {&pointer};
  expect_contains(failure(image, "not_in_its_mask", {1}, {32}, arguments), "is not in the mask that it passes");
  values[0] = 0;
  EXPECT_EQ(failure(image, "some_return_early", {3}, {32}, arguments), "it succeeded");
  EXPECT_EQ(values[0], 48);
}

TEST(rules, a_trap_or_failed_assertion_ends_the_launch_with_its_line) {
  for (const bool only_fibers : {false, true}) {
    const loaded_image image = load_text(R"(
__device__ void check(int x) {
  assert(x < 100);
}
extern "C" __global__ void asserts(int n) {
  check(n + (int)threadIdx.x);
}
extern "C" __global__ void traps(int n) {
  if (threadIdx.x == 7 && blockIdx.x == n)
    __trap();
}
)",
                                         {.only_fibers = only_fibers});
    int n = 95;
    void* arguments[] = {&n};
    expect_contains(failure(image, "asserts", {1}, {32}, arguments), "assertion `x < 100' failed at ");
    expect_contains(failure(image, "asserts", {1}, {32}, arguments), "source.cu:3");
    n = 2;
    expect_contains(failure(image, "traps", {9}, {32}, arguments), "was stopped in block (2, 0, 0): __trap() at ");
    expect_contains(failure(image, "traps", {9}, {32}, arguments), "source.cu:10");
    n = 50;
    EXPECT_EQ(failure(image, "asserts", {1}, {32}, arguments), "it succeeded");
  }
}

TEST(rules, a_barrier_hidden_from_the_translator_is_refused_at_run_time) {
  const loaded_image image = load_text(R"(
struct hidden {
  static __device__ void wait() { __syncthreads(); }
};
struct table {
  void (*entry)();
};
__device__ table all[] = {{&hidden::wait}};
__device__ table* get() { return nullptr; }
extern "C" __global__ void calls(table t) { t.entry(); }
extern "C" __global__ void tells(table* t) { t->entry = &hidden::wait; }
)");
  ASSERT_EQ(image.find_kernel("calls")->attributes.how, execution::loop);
  void* entry = nullptr;
  void* pointer = &entry;
  void* first[] = {&pointer};
  EXPECT_EQ(failure(image, "tells", {1}, {1}, first), "it succeeded");
  void* second[] = {&entry};
  expect_contains(failure(image, "calls", {1}, {32}, second), "was reached by threads that run one after the other");
}

TEST(rules, launches_beyond_the_limits_are_refused_by_field) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void free_size() {}
extern "C" __global__ void __launch_bounds__(64, 2) bounded(float* out) {
  __shared__ float mine[1000];
  mine[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = mine[63 - threadIdx.x];
}
)");
  EXPECT_EQ(failure(image, "free_size", {0}, {1}, nullptr),
            "caller_bug: launch: grid.x is 0; expected 1 to 2147483647 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1, 65536}, {1}, nullptr),
            "caller_bug: launch: grid.y is 65536; expected 1 to 65535 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1, 1, 0}, {1}, nullptr),
            "caller_bug: launch: grid.z is 0; expected 1 to 65535 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1}, {1025}, nullptr),
            "caller_bug: launch: block.x is 1025; expected 1 to 1024 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1}, {1, 0}, nullptr),
            "caller_bug: launch: block.y is 0; expected 1 to 1024 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1}, {1, 1, 65}, nullptr),
            "caller_bug: launch: block.z is 65; expected 1 to 64 (kernel free_size)");
  EXPECT_EQ(failure(image, "free_size", {1}, {512, 3}, nullptr),
            "caller_bug: launch: block has 1536 threads; expected at most 1024 (kernel free_size)");
  EXPECT_EQ(failure(image, "bounded", {1}, {65}, nullptr),
            "caller_bug: launch: block has 65 threads; expected at most 64, because of the kernel's __launch_bounds__ "
            "(kernel bounded)");
  EXPECT_EQ(image.find_kernel("bounded")->attributes.static_shared_bytes, 4000u);
  EXPECT_EQ(image.find_kernel("bounded")->attributes.max_threads, 64u);
  EXPECT_EQ(image.find_kernel("free_size")->attributes.max_threads, 1024u);
  expect_contains(failure(image, "bounded", {1}, {64}, nullptr, 232448 - 3999),
                  "shared_bytes is 228449; expected at most 228448, because a block has 232448 bytes of shared memory");
  std::vector<float> out(64);
  run(image, "bounded", {1}, {64}, 232448 - 4000, out.data());
  EXPECT_EQ(out, std::vector<float>(64, 1.0f));
}

TEST(rules, features_that_need_a_gpu_are_refused_with_line_and_reason) {
  const std::pair<const char*, const char*> cases[] = {
      {"__global__ void k(int* x) {\n  asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(*x));\n}",
       ":2: error: PTX (asm) runs on GPUs only"},
      {"#include <mma.h>\n__global__ void k() {\n  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, "
       "float> "
       "f;\n}",
       ":3: error: tensor-core operations (nvcuda::wmma) exist on GPUs only"},
      {"__global__ void k(cudaTextureObject_t t) {}", ":1: error: textures exist on GPUs only"},
      {"#include <cooperative_groups.h>\n__global__ void k() {\n  cooperative_groups::this_grid().sync();\n}",
       ":3: error: a barrier of the whole grid"},
      {"__global__ void k() {\n  k<<<1,\n 2>>>();\n}", ":2: error: a kernel cannot be launched by a kernel"},
      {"__global__ void __launch_bounds__(2) a() {\n  a<<<1, 2>>>();\n}\n__global__ void k() {\n  a<<<1, 2>>>();\n}",
       ":2: error: a kernel cannot be launched by a kernel"},
      {"__global__ void __cluster_dims__(2, 1, 1) k() {}", ":1: error: clusters of blocks exist on GPUs only"},
      {"__global__ void k(int* x) {\n  *x = undeclared;\n}", "source.cu:2:"},
      {"template <int N> __global__ void k(int* x) {\n  __shared__ int y[N];\n  y[0] = 1;\n  __syncthreads();\n  *x = "
       "undeclared;\n}\n"
       "__global__ void f() {}",
       "source.cu:5:"},
  };
  for (const auto& [source, message] : cases) {
    const compiled c = compile_text(source, {}, {.optimisation = 0});
    EXPECT_TRUE(c.bytes.empty()) << source;
    expect_contains(c.messages, message);
  }
}

TEST(rules, many_threads_can_launch_at_the_same_time) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void add(unsigned long long* sum, unsigned n) {
  __shared__ unsigned part[64];
  part[threadIdx.x] = blockIdx.x * n + threadIdx.x;
  __syncthreads();
  for (unsigned s = 32; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, (unsigned long long)part[0]);
}
__device__ void wait_here() { __syncthreads(); }
extern "C" __global__ void add_in_fibers(unsigned long long* sum, unsigned n) {
  __shared__ unsigned part[64];
  part[threadIdx.x] = blockIdx.x * n + threadIdx.x;
  wait_here();
  if (threadIdx.x == 0)
    for (int i = 0; i < 64; ++i) atomicAdd(sum, (unsigned long long)part[i]);
}
)");
  launcher shared(3);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      const loaded_kernel* k = image.find_kernel(t % 2 == 0 ? "add" : "add_in_fibers");
      for (unsigned repeat = 0; repeat < 20; ++repeat) {
        unsigned long long sum = 0, want = 0;
        unsigned long long* pointer = &sum;
        unsigned n = t + repeat;
        const unsigned blocks = 1 + 97 * repeat;
        void* arguments[] = {&pointer, &n};
        auto done = shared.launch(*k, {blocks}, {64}, 0, arguments);
        for (unsigned b = 0; b < blocks; ++b) want += 64ull * b * n + 64 * 63 / 2;
        if (!done || sum != want) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(rules, a_fault_in_one_block_stops_the_others_soon) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void faulty(unsigned* ran) {
  atomicAdd(ran, 1u);
  for (int i = 0; i < 2000; ++i) __threadfence();
  if (blockIdx.x == 100) __trap();
}
)");
  launcher several(3);
  unsigned ran = 0;
  unsigned* pointer = &ran;
  void* arguments[] = {&pointer};
  auto done = several.launch(*image.find_kernel("faulty"), {1'000'000}, {1}, 0, arguments);
  ASSERT_FALSE(done);
  expect_contains(done.error().text(), "was stopped in block (100, 0, 0): __trap()");
  EXPECT_LT(ran, 500'000u);
}

TEST(rules, subnormal_numbers_are_flushed_only_on_request) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void halve(float* x) { x[threadIdx.x] *= 0.5f; }
)");
  launcher several;
  for (const bool flush : {false, true, false}) {
    std::vector<float> x(100, 1.5e-38f);
    float* pointer = x.data();
    void* arguments[] = {&pointer};
    ASSERT_TRUE(several.launch(*image.find_kernel("halve"), {1}, {100}, 0, arguments, {.flush_to_zero = flush}));
    EXPECT_EQ(x, std::vector<float>(100, flush ? 0.0f : 0.75e-38f));
  }
}

TEST(rules, an_index_beyond_31_bits_wraps_as_it_does_on_a_gpu) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void probe(unsigned long long* sum, int* negative) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned u = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long wide = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (wide == 0x7fffffffull || wide == 0x80000000ull || wide == 0xffffffffull || wide == 0x100000000ull) {
    atomicAdd(sum, (unsigned long long)u);
    if (i < 0) atomicAdd(negative, 1);
  }
}
)");
  unsigned long long sum = 0;
  int negative = 0;
  void* pointers[] = {&sum, &negative};
  void* arguments[] = {&pointers[0], &pointers[1]};
  // Only the blocks that matter: all of them would take seconds.
  for (const unsigned index : {(1u << 21) - 1, 1u << 21, (1u << 22) - 1, 1u << 22}) {
    troupe_host_block block{};
    block.grid = {(1u << 22) + 1, 1, 1};
    block.block = {1024, 1, 1};
    block.index = {index, 0, 0};
    block.threads = 1024;
    block.arguments = arguments;
    EXPECT_EQ(image.find_kernel("probe")->run(&block), TROUPE_HOST_OK);
  }
  EXPECT_EQ(sum, 0x7fffffffull + 0x80000000ull + 0xffffffffull);
  EXPECT_EQ(negative, 2);
}

}  // namespace troupe::cuda_on_host::testing
