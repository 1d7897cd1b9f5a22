// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <tests/contract/kernels/program_cases.hpp>

namespace troupe::whole {
namespace {

// Returns a recipe with the kernels of images/kernels.cpp, for a GPU.
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

struct module_library {
  static constexpr fixed_string name = "module";
  static constexpr const char* kernel_name = "ns::apply<affine,1>";
  static module::image program(const device& gpu) { return loaded(gpu); }
};

struct loading {
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
    // a GPU's driver finds globals by name, but does not list them
    EXPECT_EQ(summary->globals, engine_under_test() == "host" ? 2u : 0u);
  }
};

struct summary {
  using request = module::read_summary;
  static request good(const device& gpu) { return program_cases::read_summary<module_library>(gpu, 64); }
  static request bad(const device& gpu) { return program_cases::read_summary<module_library>(gpu, 8); }
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

}  // namespace

using module_requests =
    testing::Types<loading, program_cases::launch<module_library>, program_cases::write_global<module_library>,
                   program_cases::read_global<module_library>, summary, attributes,
                   program_cases::occupancy<module_library>, program_cases::unload<module_library>>;
static_assert(covers<module_requests, module::requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(module, library_actor, module_requests);

}  // namespace troupe::whole
