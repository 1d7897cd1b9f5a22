// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong packings are refused before they are queued, and the exact error text for each kind of mistake.
#include <gtest/gtest.h>

#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/pack_problem.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::cutlass {
namespace {

class cutlass_pack_checks : public ::testing::Test {
 protected:
  template <class T>
  matrix<T> at(std::uint64_t first, std::int64_t rows, std::int64_t columns) {
    return matrix<T>(buffer<T>(memory.at<T>(first, static_cast<std::uint64_t>(rows * columns)).range), rows, columns);
  }
  template <class T>
  tensor<T> batch_at(std::uint64_t first, std::int64_t count, std::int64_t rows, std::int64_t columns) {
    return tensor<T>(buffer<T>(memory.at<T>(first, static_cast<std::uint64_t>(count * rows * columns)).range),
                     {count, rows, columns});
  }
  // Packs 70 terms with a scale for each 32.
  pack scaled() {
    return {.from = at<float>(0, 70, 4), .packed = at<float8_e4m3>(2000, 70, 4), .scales = at<float>(1000, 3, 4)};
  }
  void expect_fine(const pack& r) { EXPECT_EQ(memory.refusal(r), "") << describe(r); }
  void expect_refused(const pack& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), "cutlass.pack: " + text) << describe(r);
  }
  template <class Change>
  void expect_refused(pack r, Change change, const std::string& text) {
    change(r);
    expect_refused(r, text);
  }

  troupe::testing::fake_memory memory{1 << 16};
};

TEST_F(cutlass_pack_checks, valid_requests_are_accepted) {
  expect_fine(scaled());
  EXPECT_EQ(problem_of(scaled()).block, 32);
  expect_fine({.from = at<half>(0, 7, 3), .packed = at<bfloat16>(1000, 7, 3)});
  expect_fine(
      {.from = at<bfloat16>(0, 70, 4), .packed = at<float4_e2m1x2>(2000, 35, 4), .scales = at<bfloat16>(500, 1, 4)});
  expect_fine({.from = batch_at<float>(0, 2, 8, 4),
               .packed = batch_at<std::int8_t>(2000, 2, 8, 4),
               .scales = batch_at<float>(1000, 2, 1, 4)});
}

TEST_F(cutlass_pack_checks, wrong_types_and_extents_are_refused) {
  expect_refused(
      scaled(), [&](pack& r) { r.from = at<double>(0, 70, 4); }, "from holds f64; expected f32, f16 or bf16");
  expect_refused(
      scaled(), [&](pack& r) { r.packed = at<std::int32_t>(2000, 70, 4); },
      "packed holds i32; expected f32, f16, bf16, i8, f8e4m3, f8e5m2 or f4e2m1x2");
  expect_refused(
      scaled(), [&](pack& r) { r.packed = at<float8_e4m3>(2000, 4, 70); },
      "packed is 4 x 70; expected 70 x 4, as from is");
  expect_refused(
      scaled(), [&](pack& r) { r.packed = at<float4_e2m1x2>(2000, 70, 4); },
      "packed is 70 x 4; expected 35 x 4, as from is");
  expect_refused({.from = at<float>(0, 7, 4), .packed = at<float4_e2m1x2>(2000, 3, 4), .scales = at<float>(1000, 1, 4)},
                 "from is 7 x 4; expected an even number of rows, because an element of f4e2m1x2 holds two numbers");
  expect_refused({.from = batch_at<float>(0, 2, 7, 4), .packed = at<half>(2000, 7, 4)},
                 "packed is 7 x 4; expected 2 x 7 x 4, as from is");
  expect_refused({.from = tensor(buffer<float>(memory.at<float>(0, 4).range), {4}), .packed = at<half>(2000, 4, 1)},
                 "from has 1 axis; expected 2, or 3 for a batch of matrices");
}

TEST_F(cutlass_pack_checks, scales_that_no_product_accepts_are_refused) {
  expect_refused(
      scaled(), [](pack& r) { r.scales.reset(); },
      "scales is not given for f8e4m3; expected f32 or bf16: a scale for each block of its elements");
  expect_refused(scaled(), [&](pack& r) { r.scales = at<half>(1500, 3, 4); }, "scales holds f16; expected f32 or bf16");
  expect_refused(
      scaled(), [&](pack& r) { r.scales = at<float>(1000, 4, 4); },
      "scales is 4 x 4; expected one scale for each 16, 32, 64 ... elements along k, or one for all 70");
  expect_refused(
      scaled(), [&](pack& r) { r.scales = at<float>(1000, 3, 1); }, "scales is 3 x 1; expected 3 x 4, as from is");
  expect_refused(
      scaled(), [&](pack& r) { r.packed = at<half>(2000, 70, 4); },
      "scales is given for f16; expected none: its elements are not scaled");
  expect_refused(
      scaled(), [&](pack& r) { r.scales = at<float>(279, 3, 4); },
      "scales overlaps from; expected separate memory, because one of them is written while the other is in use");
}

}  // namespace
}  // namespace troupe::cutlass
