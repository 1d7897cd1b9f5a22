// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <tests/contract/kernels/jit_source.hpp>
#include <tests/contract/kernels/program_cases.hpp>

namespace troupe::whole {
namespace {

jit::program compiled(const device& gpu) { return jit::compile(gpu, saxpy_recipe()); }

struct jit_library {
  static constexpr fixed_string name = "jit";
  static constexpr const char* kernel_name = "saxpy";
  static jit::program program(const device& gpu) { return compiled(gpu); }
};

struct compile {
  using request = jit::compile_recipe;
  static request of(const jit::program& p) {
    return {.recipe = in<std::byte>(p.core()->recipe()),
            .root = out<std::byte>(p.core()->root()),
            .state = out<std::byte>(p.core()->state_and_log())};
  }
  static request good(const device& gpu) { return of(compiled(gpu)); }
  static request bad(const device& gpu) {
    request r = of(compiled(gpu));
    r.root = buffer<std::byte>(r.root.range()).slice(0, 8);
    return r;
  }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto summary = gpu.ask(jit::read_summary{.recipe = in<std::byte>(r.recipe.range()),
                                                   .state = inout<std::byte>(r.state.range()),
                                                   .root = r.root.range().address})
                             .get();
    ASSERT_OK(summary);
    EXPECT_EQ(summary->kernels, 1u);
    EXPECT_EQ(summary->globals, 1u);
  }
};

struct summary {
  using request = jit::read_summary;
  static request good(const device& gpu) { return program_cases::read_summary<jit_library>(gpu, 64); }
  static request bad(const device& gpu) { return program_cases::read_summary<jit_library>(gpu, 8); }
  static constexpr const char* bad_field = "state holds 8";
  static void expect_right(const device&, const request&, const result<kernel::build_summary>& s) {
    EXPECT_EQ(s->kernels, 1u);
    EXPECT_GT(s->image_bytes, 1000u);
  }
};

struct image {
  using request = jit::read_image;
  static request make(const device& gpu, extent bytes) {
    return {.root = buffer<std::byte>(kept(compiled(gpu)).core()->root()).slice(0, bytes),
            .target = gpu.alloc<std::byte>(4)};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device& gpu, const request& r, const result<std::uint64_t>& bytes) {
    EXPECT_GT(*bytes, 1000u);
    EXPECT_EQ(content(gpu, r.target)[1], std::byte{'E'});
  }
};

struct attributes {
  using request = jit::read_attributes;
  static request make(const device& gpu, const char* name) {
    return {.root = in<std::byte>(kept(compiled(gpu)).core()->root()),
            .kernel = name,
            .listing = gpu.alloc<std::byte>(1000)};
  }
  static request good(const device& gpu) { return make(gpu, "saxpy"); }
  static request bad(const device& gpu) { return make(gpu, ""); }
  static constexpr const char* bad_field = "kernel is empty";
  static void expect_right(const device&, const request&, const result<kernel::attributes_head>& h) {
    EXPECT_EQ(h->parameters, 4u);
  }
};

}  // namespace

using jit_requests =
    testing::Types<compile, program_cases::launch<jit_library>, program_cases::write_global<jit_library>,
                   program_cases::read_global<jit_library>, summary, image, attributes,
                   program_cases::occupancy<jit_library>, program_cases::unload<jit_library>>;
static_assert(covers<jit_requests, jit::requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(jit, library_actor, jit_requests);

}  // namespace troupe::whole
