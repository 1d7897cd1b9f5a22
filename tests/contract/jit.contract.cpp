// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "contract.hpp"
#include "jit_source.hpp"

namespace troupe::whole {
namespace {

constexpr int n = 300;

jit::program compiled(const device& gpu) { return jit::compile(gpu, saxpy_recipe()); }

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

struct launch {
  using request = jit::launch;
  static request make(const device& gpu, extent blocks) {
    return {.kernel = compiled(gpu).kernel("saxpy"),
            .grid = blocks,
            .block = 64,
            .arguments = {2.0f, uploaded(gpu, counting(n)), inout(uploaded(gpu, counting(n, 5))), n}};
  }
  static request good(const device& gpu) { return make(gpu, 5); }
  static request bad(const device& gpu) { return make(gpu, 0); }
  static constexpr const char* bad_field = "grid is {0, 1, 1}";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto y = gpu.download(buffer<float>(r.arguments.list()[2].range())).get().value();
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], 3.0f * static_cast<float>(i) + 5) << "element " << i;
  }
};

struct write_global {
  using request = jit::write_global;
  static request make(const device& gpu, extent offset) {
    return {.global = compiled(gpu).global("table"),
            .source = uploaded(gpu, counting(8, 100)).as<std::byte>(),
            .offset_bytes = offset};
  }
  static request good(const device& gpu) { return make(gpu, 16); }
  static request bad(const device& gpu) { return make(gpu, -4); }
  static constexpr const char* bad_field = "offset_bytes is -4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    auto all = gpu.alloc<float>(16);
    gpu.tell(jit::read_global{.global = r.global, .target = all.as<std::byte>()});
    std::vector<float> expected{1, 2, 3, 0};
    for (int i = 0; i < 8; ++i) expected.push_back(100.0f + static_cast<float>(i));
    expected.resize(16);
    EXPECT_EQ(gpu.download(all).get().value(), expected);
  }
};

struct read_global {
  using request = jit::read_global;
  static request make(const device& gpu, extent offset) {
    return {.global = compiled(gpu).global("table"), .target = gpu.alloc<std::byte>(12), .offset_bytes = offset};
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
  using request = jit::read_summary;
  static request make(const device& gpu, extent bytes) {
    const auto core = kept(compiled(gpu)).core();
    return {.recipe = in<std::byte>(core->recipe()),
            .state = buffer<std::byte>(core->state()).slice(0, bytes),
            .root = core->root().address};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
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

struct occupancy {
  using request = jit::read_occupancy;
  static request make(const device& gpu, extent threads) {
    return {.root = in<std::byte>(kept(compiled(gpu)).core()->root()), .kernel = "saxpy", .block = threads};
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
  using request = jit::unload;
  static request make(const device& gpu, extent bytes) {
    const auto core = kept(compiled(gpu)).core();
    return {.root = buffer<std::byte>(core->root()).slice(0, bytes), .state = out<std::byte>(core->state())};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

}  // namespace

using jit_requests =
    testing::Types<compile, launch, write_global, read_global, summary, image, attributes, occupancy, unload>;
static_assert(covers<jit_requests, jit::requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(jit, library_actor, jit_requests);

}  // namespace troupe::whole
