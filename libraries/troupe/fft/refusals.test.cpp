// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong requests are refused before they are queued, with the exact text for each kind of mistake.
#include <gtest/gtest.h>

#include <troupe/fft/fft.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::fft {
namespace {

class fft_refusals : public ::testing::Test {
 protected:
  template <class T>
  auto at(std::uint64_t first, std::uint64_t count) {
    return memory.at<T>(first, count);
  }
  template <class R>
  void expect_fine(const R& r) {
    EXPECT_EQ(memory.refusal(r), "") << describe(r);
  }
  template <class R>
  void expect_refused(const R& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), std::string(name_of<R>()) + ": " + text) << describe(r);
  }
  template <class R, class F, class V>
  void expect_refused(R good, F R::* field, V value, const std::string& text) {
    good.*field = value;
    expect_refused(good, text);
  }
  troupe::testing::fake_memory memory{0x10000};
};

using C = complex64;

TEST_F(fft_refusals, mistakes_in_extents_and_batches_are_refused_with_the_field) {
  const c2c<C> good{.input = at<C>(0, 32), .output = at<C>(100, 32), .n = {4, 8}};
  expect_fine(good);
  const std::string extents = "; expected 1 to 3 extents of at least 1";
  expect_refused(good, &c2c<C>::n, shape(4, 0), "n is {4, 0}" + extents);
  expect_refused(good, &c2c<C>::n, shape(-1), "n is {-1}" + extents);
  expect_refused(good, &c2c<C>::n, shape(2, 2, extent::overflow()), "n is {2, 2, too large for 64 bits}" + extents);
  expect_refused(good, &c2c<C>::n, shape::tight(), "n is tight" + extents);
  expect_refused(good, &c2c<C>::batch, 0, "batch is 0; expected at least 1");
  const extent huge = std::int64_t{1} << 40;
  expect_refused(good, &c2c<C>::n, shape(huge, huge),
                 "n is {1099511627776, 1099511627776}, which with its batch and layout needs more than 2^63 elements; "
                 "expected a transform that fits 64 bits");
  expect_refused(good, &c2c<C>::batch, 2, "input holds 32 elements; expected at least 64");
}

TEST_F(fft_refusals, mistakes_in_layouts_are_refused_with_the_field) {
  const c2c<C> good{.input = at<C>(0, 100), .output = at<C>(100, 100), .n = {4, 8}};
  expect_refused(good, &c2c<C>::input_layout, layout{.embed = {4, 7}},
                 "input_layout has embed {4, 7}; expected 2 extents of at least {4, 8}");
  expect_refused(good, &c2c<C>::output_layout, layout{.embed = 100},
                 "output_layout has embed {100}; expected 2 extents of at least {4, 8}");
  expect_refused(good, &c2c<C>::input_layout, layout{.stride = 0}, "input_layout has stride 0; expected at least 1");
  expect_refused(good, &c2c<C>::output_layout, layout{.distance = -3},
                 "output_layout has distance -3; expected at least 1, or tight");
  c2c<C> windows{.input = at<C>(0, 24), .output = at<C>(100, 48), .n = 16, .batch = 3, .input_layout = {.distance = 4}};
  expect_fine(windows);
  windows.output_layout.distance = 4;
  expect_refused(
      windows,
      "output_layout is {embed tight, stride 1, distance 4}, where several elements have one address; expected "
      "strides, embed and distance that keep the elements of the output apart");
}

TEST_F(fft_refusals, name_unknown_choices) {
  const c2c<C> good{.input = at<C>(0, 8), .output = at<C>(100, 8), .n = 8};
  expect_refused(good, &c2c<C>::direction, static_cast<direction>(2), "direction is 2; expected forward or inverse");
  expect_refused(good, &c2c<C>::normalization, static_cast<normalization>(9),
                 "normalization is 9; expected none, inverse, orthonormal or forward");
}

TEST_F(fft_refusals, name_hermitian_halves_that_are_too_short) {
  for (const int n : {9, 10}) {
    const std::uint64_t half = static_cast<std::uint64_t>(n) / 2 + 1;
    expect_fine(r2c<float>{.input = at<float>(0, 10), .output = at<C>(100, half), .n = n});
    expect_refused(r2c<float>{.input = at<float>(0, 10), .output = at<C>(100, half - 1), .n = n},
                   "output holds " + std::to_string(half - 1) + " elements; expected at least " + std::to_string(half));
    expect_refused(c2r<float>{.input = at<C>(0, half - 1), .output = at<float>(100, 10), .n = n},
                   "input holds " + std::to_string(half - 1) + " elements; expected at least " + std::to_string(half));
  }
}

TEST_F(fft_refusals, mistakes_in_transforms_in_place_are_refused_with_the_field) {
  expect_fine(c2c<C>{.input = at<C>(0, 8), .output = at<C>(0, 8), .n = 8});
  expect_refused(
      c2c<C>{.input = at<C>(0, 9), .output = at<C>(1, 8), .n = 8},
      "output overlaps input; expected separate memory, because one of them is written while the other is in use");
  expect_refused(
      c2c<C>{.input = at<C>(0, 16), .output = at<C>(0, 16), .n = 8, .output_layout = {.stride = 2}},
      "output overlaps input; expected separate memory, because one of them is written while the other is in use");
  const shape n{3, 8};
  expect_fine(
      r2c<float>{.input = at<float>(0, 30), .output = at<C>(0, 15), .n = n, .input_layout = {.embed = padded(n)}});
  expect_fine(
      c2r<float>{.input = at<C>(0, 15), .output = at<float>(0, 30), .n = n, .output_layout = {.embed = padded(n)}});
  const std::string room =
      "too small for the transform in place; expected embed {3, 10} (padded(n)) with stride 1, and a distance to "
      "match, or "
      "another output";
  expect_refused(r2c<float>{.input = at<float>(0, 30), .output = at<C>(0, 15), .n = n},
                 "input_layout is {embed tight, stride 1, distance tight}, " + room);
  expect_refused(c2r<float>{.input = at<C>(0, 15), .output = at<float>(0, 30), .n = n},
                 "output_layout is {embed tight, stride 1, distance tight}, " + room);
}

TEST_F(fft_refusals, name_data_without_callbacks) {
  const c2c<C> good{.input = at<C>(0, 8), .output = at<C>(100, 8), .n = 8};
  c2c<C> r = good;
  r.load_data = at<std::byte>(1000, 8);
  expect_refused(r, "load_data is given without callbacks; expected none, or callbacks with a load function");
  r = good;
  r.store_data = at<std::byte>(1000, 8);
  expect_refused(r, "store_data is given without callbacks; expected none, or callbacks with a store function");
}

TEST_F(fft_refusals, mistakes_in_plans_are_refused_with_the_field) {
  expect_fine(prepare<C>{.n = {512, 512}, .batch = 64});
  expect_fine(prepare<float>{.n = 9, .direction = direction::inverse});
  expect_refused(prepare<float>{.n = 0}, "n is {0}; expected 1 to 3 extents of at least 1");
  expect_refused(
      prepare<C>{.n = 8, .batch = 2, .output_layout = {.distance = 1}},
      "output_layout is {embed tight, stride 1, distance 1}, where several elements have one address; expected "
      "strides, embed and distance that keep the elements of the output apart");
}

TEST_F(fft_refusals, describe_shapes_and_layouts_as_written) {
  EXPECT_EQ(to_string(shape(2, 3, 4)), "{2, 3, 4}");
  const std::string said =
      describe(c2c<C>{.input = at<C>(0, 8), .output = at<C>(100, 8), .n = 8, .direction = direction::inverse});
  EXPECT_NE(said.find("n={8}, direction=inverse, batch=1, normalization=none, input_layout={embed tight, stride 1, "
                      "distance tight}"),
            said.npos)
      << said;
}

}  // namespace
}  // namespace troupe::fft
