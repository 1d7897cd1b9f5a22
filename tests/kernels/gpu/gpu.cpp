// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Kernels compiled by NVRTC, loaded and launched on the first GPU as the engines do it.
#include <algorithm>
#include <tests/support/gpu.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>

namespace troupe::kernel {
namespace {

// Numbers in host memory that the GPU sees at the same address.
template <class T>
class numbers {
 public:
  explicit numbers(std::size_t count, T value = {}) : count_(count) {
    void* at = nullptr;
    must(::cuMemHostAlloc(&at, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP));
    data_ = static_cast<T*>(at);
    std::fill_n(data_, count, value);
  }
  numbers(const numbers&) = delete;
  ~numbers() { (void)::cuMemFreeHost(data_); }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  std::byte* bytes() const noexcept { return reinterpret_cast<std::byte*>(data_); }
  template <access_mode M>
  operand<T, M> as() const {
    return operand<T, M>(memory_range{block_ref(), reinterpret_cast<std::uintptr_t>(data_), count_ * sizeof(T)});
  }
  auto read() const { return as<access_mode::read>(); }
  auto written() const { return as<access_mode::read_write>(); }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

class on_a_gpu : public testing::Test {
 protected:
  void SetUp() override {
    must(::cuInit(0));
    CUdevice device = 0;
    must(::cuDeviceGet(&device, 0));
    must(::cuDevicePrimaryCtxRetain(&context_, device));
    must(::cuCtxSetCurrent(context_));
    must(::cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    limits_ = gpu_limits::of(0).value();
  }
  void TearDown() override {
    (void)::cuStreamDestroy(stream_);
    (void)::cuDevicePrimaryCtxRelease(0);
  }

  std::string compiled(const jit::recipe& r) const {
    const auto with = jit::nvrtc::find();
    const auto c = jit::compiler_for(*with, r, limits_.major * 10 + limits_.minor);
    EXPECT_TRUE(c) << c.error().text();
    const jit::compiled out = jit::compile(*with, *c, r, INT64_MAX);
    EXPECT_FALSE(out.failed) << out.failed->text();
    return out.image;
  }
  // The programs of a worker that finds this image for every recipe.
  std::unique_ptr<gpu_programs> programs(const std::string& bytes) const {
    return std::make_unique<gpu_programs>(limits_, 1, [this, bytes](const program_root&) -> gpu_programs::made {
      auto image = gpu_image::load(bytes, "test", limits_);
      if (!image) return {image.error(), {}, {}};
      return {std::make_shared<const loaded_program<gpu_image>>("test", std::move(*image), nullptr), {}, {}};
    });
  }
  struct shape {
    dimensions grid = 1, block = 1;
    extent shared_bytes = 0;
    bool cooperative = false;
    dimensions cluster = 1;
    bool dependent = false;
    int shared_carveout = -1;
  };
  // Returns the error; empty if it ran.
  std::string run(gpu_programs& all, std::string_view name, const arguments& given, const shape& s) {
    std::vector<std::byte> bytes(given.encoded_bytes());
    given.encode(bytes.data());
    const arguments seen = arguments::view(bytes.data(), static_cast<std::uint32_t>(given.size()));
    call c{};
    c.stream = stream_;
    const auto done = all.run(root_,
                              {"test.launch", name, s.grid, s.block, s.shared_bytes, seen, s.cooperative, s.cluster,
                               s.dependent, s.shared_carveout},
                              c);
    const CUresult ran = ::cuStreamSynchronize(stream_);
    EXPECT_EQ(ran, CUDA_SUCCESS) << cuda::text_of(ran);
    return done ? "" : done.error().text();
  }
  call on_stream() const {
    call c{};
    c.stream = stream_;
    return c;
  }

  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  gpu_limits limits_;
  program_root root_{.id = 1};
};

constexpr const char* source = R"(
namespace ns {
__device__ int total = 5;
__constant__ float factors[2] = {1, 2};
template <class T, int N> __global__ void scale(const T* in, T* out, int n) {
  int i = blockIdx.x * N + threadIdx.x;
  if (i < n) out[i] = in[i] * T(factors[1]);
}
}
struct pair { int a, b; };
__global__ void add(pair p, int* out) { atomicAdd(out, p.a + p.b + ns::total); }
extern "C" __global__ void plain(float v, float* out) { *out = v; }
__global__ void shared(int n, int* out) {
  extern __shared__ int cells[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = cells[n - 1];
}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void mixed(unsigned* x, unsigned by) { if (threadIdx.x == 0 && blockIdx.y == 1) *x = *x * 3 + by; }
struct large { unsigned unused[500]; unsigned by; };
__global__ void added(unsigned* x, large l) { atomicAdd(x, l.by); }
)";

TEST_F(on_a_gpu, kernels_run_by_their_names_in_the_source) {
  const auto all = programs(compiled({.source = source, .kernels = {"ns::scale<float, 2 * 32>", "add"}}));
  numbers<float> x(100, 3), y(100);
  EXPECT_EQ(run(*all, "ns::scale<float,2*32>", {x.read(), y.written(), 100}, {.grid = 2, .block = 64}), "");
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(y[99], 6);
  struct {
    int a, b;
  } pair{10, 20};
  numbers<int> sum(1);
  EXPECT_EQ(run(*all, "add", {pair, sum.written()}, {.grid = 2, .block = 32}), "");
  EXPECT_EQ(sum[0], 64 * 35);
  EXPECT_EQ(run(*all, "plain", {2.5f, y.written()}, {}), "");
  EXPECT_EQ(y[0], 2.5f);
}

// Each launch needs the result of the previous one, and they are not alike.
TEST_F(on_a_gpu, launches_that_come_again_run_in_their_order_as_one_graph) {
  struct large {
    unsigned unused[500];
    unsigned by;
  } big{};
  const auto all = programs(compiled({.source = source, .kernels = {"mixed", "added"}}));
  numbers<unsigned> x(1);
  unsigned expected = 0;
  int as_graphs = 0;
  for (unsigned again = 0; again < 50; ++again) {
    const auto each = [&](std::size_t i, const auto& f) {
      const auto n = static_cast<unsigned>(i);
      big.by = again + n;
      const bool is_mixed = n % 3 != 0;
      const arguments given = is_mixed ? arguments(x.written(), again * n) : arguments(x.written(), big);
      std::vector<std::byte> bytes(given.encoded_bytes());
      given.encode(bytes.data());
      const dimensions grid(1, is_mixed ? 2 : 1), block(is_mixed ? 64 : 1);
      const extent shared(is_mixed ? 100'000 : 0);
      return f(root_, launch_order{.request = "test.launch",
                                   .kernel = is_mixed ? "mixed" : "added",
                                   .grid = grid,
                                   .block = block,
                                   .shared_bytes = shared,
                                   .values = arguments::view(bytes.data(), 2),
                                   .cooperative = false});
    };
    call c = on_stream();
    if (all->run_sequence(32, each, c))
      ++as_graphs;
    else
      for (std::size_t i = 0; i < 32; ++i)
        each(i, [&](const program_root& root, const launch_order& l) { return all->run(root, l, c).has_value(); });
    for (unsigned n = 0; n < 32; ++n) expected = n % 3 != 0 ? expected * 3 + again * n : expected + again + n;
  }
  must(::cuStreamSynchronize(stream_));
  EXPECT_EQ(x[0], expected);
  EXPECT_EQ(as_graphs, 49);
}

TEST_F(on_a_gpu, ptx_runs_and_bad_ptx_fails_with_the_drivers_message) {
  const std::string ptx = compiled({.source = source, .architecture = "compute_80"});
  numbers<float> y(1);
  EXPECT_EQ(run(*programs(ptx), "plain", {1.5f, y.written()}, {}), "");
  EXPECT_EQ(y[0], 1.5f);
  const auto bad = gpu_image::load(".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n", "bad", limits_);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reaction(), reaction::caller_bug) << bad.error().text();
  EXPECT_NE(bad.error().text().find("line 4"), std::string::npos) << bad.error().text();
}

TEST_F(on_a_gpu, mismatched_arguments_are_refused_before_anything_runs) {
  const auto all = programs(compiled({.source = source, .kernels = {"ns::scale<float, 64>"}}));
  numbers<float> x(8), y(8);
  numbers<double> d(8);
  const char* const scale = "ns::scale<float, 64>";
  EXPECT_EQ(run(*all, scale, {x.read(), buffer<float>(), 8}, {}),
            "test.launch: argument 1 is f32[0], but parameter 1 of ns::scale<float, 64> is `float*`, which it may "
            "write; pass inout(y) or out(y), or in(x) if this kernel only reads it");
  EXPECT_NE(run(*all, scale, {d.read(), y.written(), 8}, {}).find("expected elements of f32"), std::string::npos);
  EXPECT_NE(run(*all, scale, {x.read(), y.written()}, {}).find("2 arguments were given"), std::string::npos);
  EXPECT_NE(run(*all, "plain", {1.0, y.written()}, {}).find("8 bytes do not fit"), std::string::npos);
  EXPECT_NE(run(*all, "nothing", {}, {}).find("its kernels: "), std::string::npos);
}

TEST_F(on_a_gpu, blocks_are_limited_by_the_gpu) {
  const auto all = programs(compiled({.source = source}));
  numbers<int> out(1);
  const auto most = static_cast<int>(limits_.shared_bytes);
  EXPECT_EQ(run(*all, "shared", {most / 4, out.written()}, {.block = 128, .shared_bytes = most}), "");
  EXPECT_EQ(out[0], most / 4 - 1);
  EXPECT_NE(run(*all, "shared", {1, out.written()}, {.shared_bytes = most + 4}).find("shared_bytes is "),
            std::string::npos);
  EXPECT_NE(run(*all, "bounded", {}, {.block = 65}).find("expected at most 64"), std::string::npos);
  EXPECT_EQ(run(*all, "bounded", {}, {.grid = limits_.multiprocessors, .block = 64, .cooperative = true}), "");
  EXPECT_NE(run(*all, "bounded", {}, {.grid = 1'000'000, .block = 64, .cooperative = true}).find("expected at most"),
            std::string::npos);
}

// In each round, each thread takes a number that a thread of the next block has left in the round before.
constexpr const char* across_blocks = R"(
#include <cooperative_groups.h>
__global__ void pass_on(int* x, int* y, int rounds) {
  const auto grid = cooperative_groups::this_grid();
  const unsigned i = grid.thread_rank(), n = grid.size();
  for (int round = 0; round < rounds; ++round) {
    y[i] = x[(i + blockDim.x) % n] + 1;
    grid.sync();
    int* const now = y;
    y = x;
    x = now;
  }
}
)";

TEST_F(on_a_gpu, blocks_of_a_cooperative_launch_wait_for_each_other) {
  const auto all = programs(compiled({.source = across_blocks}));
  constexpr int threads = 64, rounds = 101;  // an odd number, so the last one writes to y
  const auto blocks = static_cast<int>(limits_.multiprocessors), n = blocks * threads;
  numbers<int> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = 1000 * i;
  EXPECT_EQ(
      run(*all, "pass_on", {x.written(), y.written(), rounds}, {.grid = blocks, .block = threads, .cooperative = true}),
      "");
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(y[static_cast<std::size_t>(i)], 1000 * ((i + rounds * threads) % n) + rounds) << "thread " << i;
}

// Each block reads the number of the next block in the cluster, from that block's shared memory.
constexpr const char* of_clusters = R"(
__global__ void neighbours(int* out) {
  __shared__ int mine;
  unsigned rank, blocks, own, theirs;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (threadIdx.x == 0) mine = blockIdx.x;
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0) {
    own = static_cast<unsigned>(__cvta_generic_to_shared(&mine));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"((rank + 1) % blocks));
    int value;
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(theirs) : "memory");
    out[blockIdx.x] = value;
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}
__global__ void first(int* x) {
  asm volatile("griddepcontrol.launch_dependents;");
  for (int i = 0; i < 2000; ++i) __nanosleep(100);
  x[blockIdx.x] = 1;
}
__global__ void second(const int* x, int* y) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[blockIdx.x] = x[blockIdx.x] + 1;
}
)";

TEST_F(on_a_gpu, blocks_of_a_cluster_share_memory) {
  if (limits_.major < 9) {
    const auto all = programs(compiled({.source = source}));
    EXPECT_NE(run(*all, "bounded", {}, {.grid = 2, .cluster = 2}).find("clusters need 9.0 or newer"),
              std::string::npos);
    return;
  }
  const auto all = programs(compiled({.source = of_clusters}));
  numbers<int> out(64);
  for (const int size : {2, 4, 8, 16}) {
    EXPECT_EQ(run(*all, "neighbours", {out.written()}, {.grid = 32, .block = 64, .cluster = size}), "") << size;
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i / size * size + (i + 1) % size) << "block " << i << " of " << size;
  }
  EXPECT_EQ(run(*all, "neighbours", {out.written()}, {.grid = 16, .block = 64, .cooperative = true, .cluster = 8}), "");
}

TEST_F(on_a_gpu, a_dependent_launch_sees_the_results_it_waits_for) {
  if (limits_.major < 9) GTEST_FAIL() << "this test needs a GPU of capability 9.0";
  const auto all = programs(compiled({.source = of_clusters}));
  numbers<int> x(64), y(64);
  const arguments one{x.written()}, two{x.read(), y.written()};
  const dimensions grid = 64, block = 32;
  const extent none = 0;
  call c = on_stream();
  const auto launched = [&](std::string_view name, const arguments& given, bool dependent) {
    std::vector<std::byte> bytes(given.encoded_bytes());
    given.encode(bytes.data());
    const arguments seen = arguments::view(bytes.data(), static_cast<std::uint32_t>(given.size()));
    const auto done = all->run(root_, {"test.launch", name, grid, block, none, seen, false, 1, dependent, -1}, c);
    EXPECT_TRUE(done) << done.error().text();
  };
  launched("first", one, false);
  launched("second", two, true);
  must(::cuStreamSynchronize(stream_));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], 2) << "block " << i;
}

TEST_F(on_a_gpu, a_launch_can_set_the_shared_memory_carveout) {
  const auto all = programs(compiled({.source = source}));
  numbers<int> out(1);
  for (const int carveout : {0, 50, 100})
    EXPECT_EQ(run(*all, "shared", {256, out.written()}, {.shared_bytes = 1024, .shared_carveout = carveout}), "");
  EXPECT_EQ(out[0], 255);
}

TEST_F(on_a_gpu, the_occupancy_of_a_kernel_is_reported) {
  const auto all = programs(compiled({.source = source}));
  const auto of = [&](const char* kernel, const dimensions& block, extent shared, const dimensions& cluster) {
    return all->occupancy_of(root_, {"test.occupancy", kernel, block, shared, cluster});
  };
  const auto some = of("shared", 128, 1024, 1);
  ASSERT_TRUE(some) << some.error().text();
  EXPECT_GE(some->blocks, 2u);
  EXPECT_EQ(some->processors, limits_.multiprocessors);
  EXPECT_GE(some->best_threads, 32u);
  EXPECT_GE(some->best_blocks, limits_.multiprocessors);
  EXPECT_EQ(of("shared", 128, static_cast<std::int64_t>(limits_.shared_bytes), 1)->blocks, 1u);
  EXPECT_EQ(of("shared", 128, static_cast<std::int64_t>(limits_.shared_bytes) + 1, 1)->blocks, 0u);
  EXPECT_EQ(of("bounded", 65, 0, 1)->blocks, 0u);
  if (limits_.major < 9) return;
  EXPECT_GE(some->most_cluster_blocks, 8u);
  EXPECT_GE(of("shared", 128, 1024, 4)->clusters, 8u);
}

TEST_F(on_a_gpu, a_program_of_several_parts_runs) {
  const std::string caller =
      "extern __device__ float scaled(float);\n"
      "template <class T> __global__ void k(T* x) { x[threadIdx.x] = scaled(x[threadIdx.x]); }";
  const std::string callee =
      "__device__ float scaled(float v) { return v * 2.5f; }\n"
      "__global__ void other(float* x) { x[0] = scaled(4); }";
  for (const bool lto : {false, true}) {
    const auto all = programs(compiled({.source = caller,
                                        .kernels = {"k<float>"},
                                        .units = {{.name = "callee.cu", .source = callee}},
                                        .link_time_optimisation = lto}));
    numbers<float> x(32, 2);
    EXPECT_EQ(run(*all, "k<float>", {x.written()}, {.block = 32}), "") << lto;
    EXPECT_EQ(x[31], 5) << lto;
    EXPECT_EQ(run(*all, "other", {x.written()}, {}), "") << lto;
    EXPECT_EQ(x[0], 10) << lto;
  }
}

// Copies a box of 32 x 8 through shared memory.
constexpr const char* of_maps = R"(
struct alignas(128) CUtensorMap { unsigned long long opaque[16]; };
__global__ void move(const __grid_constant__ CUtensorMap from, int x, int y, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) float box[8][32];
  __shared__ unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box)),
                 over = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::"r"(over) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(over) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(at), "l"(&from), "r"(over), "r"(x), "r"(y) : "memory");
  unsigned done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(over) : "memory");
  for (auto& row : box) for (float& v : row) v += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];"
               ::"l"(&to), "r"(at), "r"(x), "r"(y) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
)";

TEST_F(on_a_gpu, a_kernel_copies_boxes_by_tensor_maps) {
  if (limits_.major < 9) GTEST_FAIL() << "this test needs a GPU of capability 9.0";
  const auto all = programs(compiled({.source = of_maps}));
  constexpr int width = 60, height = 10;  // the second box reaches beyond both
  std::vector<float> x(width * height), y(width * height, -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  CUdeviceptr from = 0, to = 0;
  const std::size_t bytes = x.size() * sizeof(float);
  must(::cuMemAlloc(&from, bytes));
  must(::cuMemAlloc(&to, bytes));
  must(::cuMemcpyHtoD(from, x.data(), bytes));
  must(::cuMemcpyHtoD(to, y.data(), bytes));
  const tiles t{.sizes = {width, height}, .box = {32, 8}};
  const tensor_map loaded(in<float>(memory_range{block_ref(), from, bytes}), t),
      stored(inout<float>(memory_range{block_ref(), to, bytes}), t);
  for (const int left : {0, 32})
    for (const int top : {0, 8}) EXPECT_EQ(run(*all, "move", {loaded, left, top, stored}, {}), "");
  must(::cuMemcpyDtoH(y.data(), to, bytes));
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(i + 1)) << "element " << i;
  (void)::cuMemFree(from);
  (void)::cuMemFree(to);
}

TEST_F(on_a_gpu, globals_are_read_and_written_on_the_stream) {
  const auto all = programs(compiled({.source = source, .globals = {"ns::factors"}}));
  numbers<int> sum(1), seven(1, 7), back(1);
  call c = on_stream();
  const auto place = [&](const char* name, extent offset, std::uint64_t bytes) {
    return all->place(global(program::at(reinterpret_cast<std::uintptr_t>(&root_)), std::string_view(name)), offset,
                      bytes, "test.global");
  };
  const auto total = place("ns::total", 0, sizeof(int));
  ASSERT_TRUE(total) << total.error().text();
  EXPECT_TRUE(gpu_programs::copy(total->at, seven.bytes(), sizeof(int), "test.write", c));
  EXPECT_TRUE(gpu_programs::copy(back.bytes(), total->at, sizeof(int), "test.read", c));
  struct {
    int a, b;
  } nothing{0, 0};
  EXPECT_EQ(run(*all, "add", {nothing, sum.written()}, {}), "");
  EXPECT_EQ(sum[0], 7);
  EXPECT_EQ(back[0], 7);
  numbers<float> factor(1);
  const auto second = place("ns::factors", sizeof(float), sizeof(float));
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_TRUE(gpu_programs::copy(factor.bytes(), second->at, sizeof(float), "test.read", c));
  must(::cuStreamSynchronize(stream_));
  EXPECT_EQ(factor[0], 2);
  const auto beyond = place("ns::factors", 8, 4);
  EXPECT_NE(beyond.error().text().find("which has 8 bytes"), std::string::npos) << beyond.error().text();
  EXPECT_NE(place("ns::none", 0, 4).error().text().find("has no global"), std::string::npos);
}

TEST_F(on_a_gpu, the_attributes_of_a_kernel_are_reported) {
  const auto image =
      gpu_image::load(compiled({.source = source, .kernels = {"ns::scale<float, 64>"}}), "test", limits_);
  ASSERT_TRUE(image) << image.error().text();
  const gpu_kernel* const k = image->find_kernel("bounded");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(attributes_of(*k).max_threads, 64u);
  const attributes a = attributes_of(*image->find_kernel("ns::scale<float, 64>"));
  EXPECT_GT(a.registers, 0u);
  ASSERT_EQ(a.parameters.size(), 3u);
  EXPECT_EQ(a.parameters[0].type, "const float*");
  EXPECT_EQ(attributes_of(*image->find_kernel("plain")).parameters[1].passing, passing::unknown);
  EXPECT_EQ(attributes_of(*image->find_kernel("add")).parameters[0].bytes, 8u);
}

}  // namespace
}  // namespace troupe::kernel
