// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "contract.hpp"

namespace troupe::whole {
namespace {

constexpr int elements = 300;

buffer<float> numbers(const device& gpu) {
  auto b = gpu.alloc<float>(elements);
  gpu.upload(b, counting(elements));
  return b;
}

struct copy {
  using request = testing_actor::copy;
  static request good(const device& gpu) {
    return {.source = numbers(gpu), .target = gpu.alloc<float>(elements), .n = elements};
  }
  static request bad(const device& gpu) {
    return {.source = numbers(gpu), .target = gpu.alloc<float>(elements), .n = elements + 1};
  }
  static constexpr const char* bad_field = "source holds 300";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.target), counting(elements));
  }
};

struct increment {
  using request = testing_actor::increment;
  static request good(const device& gpu) { return {.x = numbers(gpu), .n = elements}; }
  static request bad(const device& gpu) { return {.x = numbers(gpu), .n = 0}; }
  static constexpr const char* bad_field = "n is 0";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    EXPECT_EQ(content(gpu, r.x), counting(elements, 1));
  }
};

struct nap {
  using request = testing_actor::nap;
  static request good(const device&) { return {.microseconds = 1}; }
  static request bad(const device&) { return {.microseconds = -1}; }
  static constexpr const char* bad_field = "microseconds is -1";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

}  // namespace

using testing_requests = testing::Types<copy, increment, nap>;
INSTANTIATE_TYPED_TEST_SUITE_P(testing_actor, library_actor, testing_requests);

}  // namespace troupe::whole
