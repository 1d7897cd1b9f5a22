// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

constexpr int all_bytes = 1000;

// Returns a buffer with known content. Need not wait for the upload, because requests are ordered.
buffer<std::byte> filled_bytes(const device& gpu, std::size_t bytes) {
  auto b = gpu.alloc<std::byte>(bytes);
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + 1);
  gpu.upload(b, data);
  return b;
}
buffer<std::byte> blank_bytes(const device& gpu, std::size_t bytes) {
  return gpu.alloc<std::byte>(bytes, {.zeroed = true});
}

template <class Request>
struct plain_copy {
  using request = Request;
  static request good(const device& gpu) {
    return {.source = filled_bytes(gpu, all_bytes), .target = blank_bytes(gpu, all_bytes), .bytes = all_bytes};
  }
  static request bad(const device& gpu) {
    return {.source = filled_bytes(gpu, all_bytes), .target = blank_bytes(gpu, all_bytes - 1), .bytes = all_bytes};
  }
  static constexpr const char* bad_field = "target holds 999";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.target), content(gpu, r.source));
  }
};

struct copy_2d {
  using request = memory::copy_2d;
  static request good(const device& gpu) {
    return {.source = filled_bytes(gpu, 96),
            .target = blank_bytes(gpu, 96),
            .width = 10,
            .rows = 6,
            .source_pitch = 16,
            .target_pitch = 12};
  }
  static request bad(const device& gpu) {
    return {.source = filled_bytes(gpu, 96),
            .target = blank_bytes(gpu, 96),
            .width = 10,
            .rows = 6,
            .source_pitch = 9,
            .target_pitch = 12};
  }
  static constexpr const char* bad_field = "source_pitch is 9";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto from = content(gpu, r.source), to = content(gpu, r.target);
    for (std::size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], i < 72 && i % 12 < 10 ? from[i / 12 * 16 + i % 12] : std::byte{0}) << "byte " << i;
  }
};

struct fill {
  using request = memory::fill;
  static request make(const device& gpu, extent bytes) {
    return {.target = blank_bytes(gpu, 999),
            .bytes = bytes,
            .pattern = {std::byte{1}, std::byte{2}, std::byte{3}},
            .pattern_bytes = 3};
  }
  static request good(const device& gpu) { return make(gpu, 999); }
  static request bad(const device& gpu) { return make(gpu, 998); }
  static constexpr const char* bad_field = "bytes is not a multiple";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto got = content(gpu, r.target);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<std::byte>(1 + i % 3)) << "byte " << i;
  }
};

struct lend {
  using request = memory::lend;
  static request good(const device& gpu) { return {.target = filled_bytes(gpu, all_bytes), .bytes = all_bytes}; }
  static request bad(const device& gpu) { return {.target = filled_bytes(gpu, all_bytes), .bytes = all_bytes + 1}; }
  static constexpr const char* bad_field = "target holds 1000";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.target)[10], static_cast<std::byte>(71));
  }
};

struct show {
  using request = memory::show;
  static request good(const device& gpu) { return {.source = filled_bytes(gpu, all_bytes), .bytes = all_bytes}; }
  static request bad(const device& gpu) { return {.source = filled_bytes(gpu, all_bytes), .bytes = 0}; }
  static constexpr const char* bad_field = "bytes is 0";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.source)[10], static_cast<std::byte>(71));
  }
};

struct take_back {
  using request = memory::take_back;
  static request good(const device& gpu) { return {.target = filled_bytes(gpu, all_bytes), .bytes = all_bytes}; }
  static request bad(const device& gpu) { return {.target = filled_bytes(gpu, all_bytes), .bytes = -1}; }
  static constexpr const char* bad_field = "bytes is -1";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.target)[10], static_cast<std::byte>(71)) << "a copy of 0 bytes writes nothing";
  }
};

}  // namespace

using memory_requests = testing::Types<plain_copy<memory::copy>, plain_copy<memory::upload>,
                                       plain_copy<memory::download>, copy_2d, fill, lend, show, take_back>;
INSTANTIATE_TYPED_TEST_SUITE_P(memory, library_actor, memory_requests);

}  // namespace troupe::whole
