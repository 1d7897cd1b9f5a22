// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/kernel/requests.hpp>

#include <tests/contract/contract.hpp>
#include "kernels.hpp"

/// Contract cases of the requests that jit and module share. A Library has `name`; `program(gpu)`, which makes a
/// program with the kernel `saxpy` and the global `float table[16] = {1, 2, 3}`; and `kernel_name`, the name of any of
/// its kernels.
namespace troupe::whole::program_cases {

template <class Library>
struct launch {
  using request = kernel::launch<Library::name>;
  static constexpr int n = 300;
  static request make(const device& gpu, extent blocks) {
    return {.kernel = Library::program(gpu).kernel("saxpy"),
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

template <class Library>
struct write_global {
  using request = kernel::write_global<Library::name>;
  static request make(const device& gpu, extent offset) {
    return {.global = Library::program(gpu).global("table"),
            .source = uploaded(gpu, counting(8, 100)).template as<std::byte>(),
            .offset_bytes = offset};
  }
  static request good(const device& gpu) { return make(gpu, 16); }
  static request bad(const device& gpu) { return make(gpu, -4); }
  static constexpr const char* bad_field = "offset_bytes is -4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    auto all = gpu.alloc<float>(16);
    gpu.tell(kernel::read_global<Library::name>{.global = r.global, .target = all.template as<std::byte>()});
    std::vector<float> expected{1, 2, 3, 0};
    for (int i = 0; i < 8; ++i) expected.push_back(100.0f + static_cast<float>(i));
    expected.resize(16);
    EXPECT_EQ(gpu.download(all).get().value(), expected);
  }
};

template <class Library>
struct read_global {
  using request = kernel::read_global<Library::name>;
  static request make(const device& gpu, extent offset) {
    return {
        .global = Library::program(gpu).global("table"), .target = gpu.alloc<std::byte>(12), .offset_bytes = offset};
  }
  static request good(const device& gpu) { return make(gpu, 4); }
  static request bad(const device& gpu) { return make(gpu, -1); }
  static constexpr const char* bad_field = "offset_bytes is -1";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(gpu.download(buffer<std::byte>(r.target.range()).template as<float>()).get().value(),
              (std::vector<float>{2, 3, 0}));
  }
};

template <class Library>
struct occupancy {
  using request = kernel::read_occupancy<Library::name>;
  static request make(const device& gpu, extent threads) {
    return {.root = in<std::byte>(kept(Library::program(gpu)).core()->root()),
            .kernel = Library::kernel_name,
            .block = threads};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 2000); }
  static constexpr const char* bad_field = "block is {2000, 1, 1}";
  static void expect_right(const device&, const request&, const result<kernel::occupancy>& o) {
    EXPECT_GE(o->blocks, 1u);
    EXPECT_GE(o->processors, 1u);
  }
};

template <class Library>
struct unload {
  using request = kernel::unload<Library::name>;
  static request make(const device& gpu, extent bytes) {
    const auto core = kept(Library::program(gpu)).core();
    return {.root = buffer<std::byte>(core->root()).slice(0, bytes), .state = out<std::byte>(core->state())};
  }
  static request good(const device& gpu) { return make(gpu, 64); }
  static request bad(const device& gpu) { return make(gpu, 8); }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

/// Returns a request for the summary of a program whose state has `bytes` bytes.
template <class Library>
auto read_summary(const device& gpu, extent bytes) {
  const auto core = kept(Library::program(gpu)).core();
  return kernel::read_summary<Library::name>{.recipe = in<std::byte>(core->recipe()),
                                             .state = buffer<std::byte>(core->state()).slice(0, bytes),
                                             .root = core->root().address};
}

}  // namespace troupe::whole::program_cases
