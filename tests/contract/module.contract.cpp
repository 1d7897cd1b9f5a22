// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "contract.hpp"
#include "kernels.hpp"

namespace troupe::whole {
namespace {

constexpr int n = 300;

// The kernels of images/kernels.cpp, for a GPU.
jit::recipe kernels_for_a_gpu() {
  return {.source = R"(
struct affine { float scale, offset; double extra; };
__device__ float table[16] = {1, 2, 3};
__device__ int factor = 2;
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  if (index() < n) y[index()] += a * x[index()];
}
namespace ns {
template <class F, int N> __global__ void __launch_bounds__(256) apply(F f, float* y) {
  y[index()] = f.scale * y[index()] + f.offset + float(f.extra);
}
}
__global__ void clear(void* to) { static_cast<char*>(to)[index()] = 0; }
__global__ void accumulate(const float* x) { atomicAdd(&table[index() % 16], factor * x[index()]); }
__global__ void nothing() {}
__global__ void trap() { __trap(); }
__global__ void crash() { *reinterpret_cast<volatile int*>(16) = 1; }
)",
          .name = "kernels.cu",
          .kernels = {"ns::apply<affine, 1>"}};
}

std::vector<std::byte> image_for(const device& gpu) {
  if (engine_under_test() == "host") return test_image();
  static std::mutex lock;
  static std::vector<std::byte> made;
  const std::scoped_lock guard(lock);
  if (made.empty()) made = jit::compile(gpu, kernels_for_a_gpu()).image().get().value();
  return made;
}

module::image loaded(const device& gpu) { return module::load(gpu, image_for(gpu), {.name = "kernels.so"}); }

// A global of the image, as its kernels left it: what nobody wrote to is as the image says.
std::vector<float> table_of(const device& gpu, const kernel::global& table) {
  auto all = gpu.alloc<float>(16);
  gpu.tell(module::read_global{.global = table, .target = all.as<std::byte>()});
  return gpu.download(all).get().value();
}

struct load {
  using request = module::load_image;
  static request of(const module::image& i) {
    return {.recipe = in<std::byte>(i.core()->recipe()),
            .root = out<std::byte>(i.core()->root()),
            .state = out<std::byte>(i.core()->state_and_log())};
  }
  static request good(const device& gpu) { return of(loaded(gpu)); }
  static request bad(const device& gpu) { return of(module::load(gpu, {})); }
  static constexpr const char* bad_field = "bytes is empty";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto summary = gpu.ask(module::read_summary{.recipe = in<std::byte>(r.recipe.range()),
                                                      .state = inout<std::byte>(r.state.range()),
                                                      .root = r.root.range().address})
                             .get();
    ASSERT_OK(summary);
    EXPECT_EQ(summary->kernels, 7u);
    EXPECT_EQ(summary->globals, engine_under_test() == "host" ? 2u : 0u);  // a driver finds them by their names
  }
};

struct launch {
  using request = module::launch;
  static request make(const device& gpu, extent blocks) {
    return {.kernel = loaded(gpu).kernel("saxpy"),
            .grid = blocks,
            .block = 64,
            .arguments = {2.0f, uploaded(gpu, counting(n)), inout(uploaded(gpu, counting(n, 5))), n}};
  }
  static request good(const device& gpu) { return make(gpu, 5); }
  static request bad(const device& gpu) { return make(gpu, 0); }
  static constexpr const char* bad_field = "grid is {0, 1, 1}";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto y = gpu.download(buffer<float>(r.arguments.list()[2].range())).get().value();
    for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], 2.0f * i + i + 5) << "element " << i;
  }
};

struct write_global {
  using request = module::write_global;
  static request make(const device& gpu, extent offset) {
    return {.global = loaded(gpu).global("table"),
            .source = uploaded(gpu, counting(8, 100)).as<std::byte>(),
            .offset_bytes = offset};
  }
  static request good(const device& gpu) { return make(gpu, 16); }
  static request bad(const device& gpu) { return make(gpu, -4); }
  static constexpr const char* bad_field = "offset_bytes is -4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    std::vector<float> expected{1, 2, 3, 0};
    for (int i = 0; i < 8; ++i) expected.push_back(100.0f + i);
    expected.resize(16);
    EXPECT_EQ(table_of(gpu, r.global), expected);
  }
};

struct read_global {
  using request = module::read_global;
  static request make(const device& gpu, extent offset) {
    return {.global = loaded(gpu).global("table"), .target = gpu.alloc<std::byte>(12), .offset_bytes = offset};
  }
  static request good(const device& gpu) { return make(gpu, 4); }
  static request bad(const device& gpu) { return make(gpu, -1); }
  static constexpr const char* bad_field = "offset_bytes is -1";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(gpu.download(buffer<std::byte>(r.target.range()).as<float>()).get().value(),
              (std::vector<float>{2, 3, 0}));
  }
};

struct summary {
  using request = module::read_summary;
  static request make(const device& gpu, extent bytes) {
    const auto core = kept(loaded(gpu)).core();
    return {.recipe = in<std::byte>(core->recipe()),
            .state = buffer<std::byte>(core->state()).slice(0, bytes),
            .root = core->root().address};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
  static constexpr const char* bad_field = "state holds 8";
  static void expect_right(const device& gpu, const request&, const result<kernel::build_summary>& s) {
    EXPECT_EQ(s->kernels, 7u);
    EXPECT_EQ(s->image_bytes, image_for(gpu).size());
    EXPECT_EQ(s->source, kernel::image_source::given);
  }
};

struct attributes {
  using request = module::read_attributes;
  static request good(const device& gpu) {
    return {.root = in<std::byte>(kept(loaded(gpu)).core()->root()),
            .kernel = "ns::apply<affine,1>",
            .listing = gpu.alloc<std::byte>(1000)};
  }
  static request bad(const device& gpu) {
    return {
        .root = in<std::byte>(kept(loaded(gpu)).core()->root()), .kernel = "", .listing = gpu.alloc<std::byte>(1000)};
  }
  static constexpr const char* bad_field = "kernel is empty";
  static void expect_right(const device&, const request&, const result<kernel::attributes_head>& h) {
    EXPECT_EQ(h->max_threads, 256u);
    EXPECT_EQ(h->parameters, 2u);
  }
};

struct occupancy {
  using request = module::read_occupancy;
  static request make(const device& gpu, extent threads) {
    return {.root = in<std::byte>(kept(loaded(gpu)).core()->root()), .kernel = "ns::apply<affine,1>", .block = threads};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 2000); }
  static constexpr const char* bad_field = "block is {2000, 1, 1}";
  static void expect_right(const device&, const request&, const result<kernel::occupancy>& o) {
    EXPECT_GE(o->blocks, 1u);
    EXPECT_GE(o->processors, 1u);
  }
};

struct unload {
  using request = module::unload;
  static request make(const device& gpu, extent bytes) {
    const auto core = kept(loaded(gpu)).core();
    return {.root = buffer<std::byte>(core->root()).slice(0, bytes), .state = out<std::byte>(core->state())};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

}  // namespace

using module_requests = testing::Types<load, launch, write_global, read_global, summary, attributes, occupancy, unload>;
static_assert(covers<module_requests, module::requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(module, library_actor, module_requests);

}  // namespace troupe::whole
