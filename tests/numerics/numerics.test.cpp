// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <tests/numerics/compare.hpp>
#include <tests/numerics/painted.hpp>
#include <tests/numerics/reference.hpp>
#include <troupe/base/half.hpp>

namespace troupe::numerics {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

TEST(views, a_negative_increment_walks_the_same_memory_backwards) {
  const int memory[] = {1, 0, 2, 0, 3};
  const vector_view<const int> forth{memory, 3, 2}, back{memory, 3, -2};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(forth(i), i + 1) << i;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back(i), 3 - i) << i;
  EXPECT_EQ(back.span(), 5);
}

TEST(views, a_matrix_is_column_major_and_turns_without_moving) {
  const int memory[] = {1, 2, -9, 3, 4, -9, 5, 6};
  const auto m = column_major(memory, 2, 3, 3);
  EXPECT_EQ(m(1, 0), 2);
  EXPECT_EQ(m(0, 2), 5);
  EXPECT_EQ(m.transposed()(2, 1), 6);
  EXPECT_EQ(m.transposed().rows, 3);
  EXPECT_EQ(m.span(), 8);
}

// Computed by hand: 2 * [1 3; 2 4] * [5 7; 6 8] - [1 1; 1 1].
TEST(reference, multiplies_matrices) {
  const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
  const auto got = reference::gemm(2, column_major(a, 2, 2, 2), column_major(b, 2, 2, 2), -1, column_major(c, 2, 2, 2));
  const double want[] = {45, 67, 61, 91};
  ASSERT_EQ(got.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i].value, want[i]) << i;
  EXPECT_EQ(got[0].magnitude, 47) << "absolute values add up, whatever their sign";
}

TEST(reference, applies_a_matrix_to_a_vector) {
  const float a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 10, 100}, y[] = {1000, 2000};
  const auto got =
      reference::gemv(1, column_major(a, 2, 3, 2), vector_view<const float>{x, 3}, 1, vector_view<const float>{y, 2});
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].value, 1 + 30 + 500 + 1000);
  EXPECT_EQ(got[1].value, 2 + 40 + 600 + 2000);
  const auto turned = reference::gemv(1, column_major(a, 2, 3, 2).transposed(), vector_view<const float>{y, 2}, 0,
                                      vector_view<const float>{x, 3});
  ASSERT_EQ(turned.size(), 3u);
  EXPECT_EQ(turned[2].value, 5000 + 12000);
}

TEST(reference, adds_scales_and_multiplies_vectors) {
  const double x[] = {1, 2, 3}, y[] = {10, 20, 30};
  const vector_view<const double> vx{x, 3}, back{x, 3, -1}, vy{y, 3};
  EXPECT_EQ(reference::axpy(2, back, vy)[0].value, 16);
  EXPECT_EQ(reference::scal(-3, vx)[2].value, -9);
  EXPECT_EQ(reference::dot(vx, vy).value, 140);
  EXPECT_EQ(reference::dot(back, vy).value, 100);
}

TEST(reference, leaves_out_what_has_a_factor_of_0) {
  const double bad[] = {nan}, good[] = {3};
  const auto m = [](const double* p) { return column_major(p, 1, 1, 1); };
  EXPECT_EQ(reference::gemm(1, m(good), m(good), 0, m(bad))[0].value, 9);
  EXPECT_EQ(reference::gemm(0, m(bad), m(good), 1, m(good))[0].value, 3);
  EXPECT_TRUE(std::isnan(reference::gemm(1, m(good), m(good), 1, m(bad))[0].value));
  EXPECT_TRUE(std::isnan(reference::scal(0, vector_view<const double>{bad, 1})[0].value)) << "scal multiplies";
}

TEST(compare, allows_what_rounding_explains_and_no_more) {
  const expected e{1000, 4000, 10};  // cancellation: the bound follows the magnitude
  const double bound = 10 * 0x1p-53 * 4000;
  EXPECT_TRUE(agrees(1000.0, e));
  EXPECT_TRUE(agrees(1000.0 + bound * 0.9, e));
  EXPECT_FALSE(agrees(1000.0 + bound * 1.1, e));
  EXPECT_FALSE(agrees(1000.0 - bound * 1.1, e));
  EXPECT_TRUE(agrees(1000.0f + static_cast<float>(bound * 1.1), e)) << "float rounds more coarsely";
  EXPECT_FALSE(agrees(0.0, e));
}

TEST(compare, tells_nan_and_infinities_apart) {
  EXPECT_TRUE(agrees(nan, expected{nan, nan, 1}));
  EXPECT_FALSE(agrees(1.0, expected{nan, nan, 1}));
  EXPECT_FALSE(agrees(nan, expected{1, 1, 1}));
  EXPECT_TRUE(agrees(inf, expected{inf, inf, 1}));
  EXPECT_FALSE(agrees(-inf, expected{inf, inf, 1}));
  EXPECT_FALSE(agrees(inf, expected{1, 1, 1}));
}

TEST(compare, a_result_stored_in_fewer_bits_may_lose_them) {
  const expected e{1 + 0x1p-11L, 1, 1};
  EXPECT_TRUE((agrees<half, float>(half(1.0f), e)));
  EXPECT_FALSE((agrees<half, float>(half(1.002f), e)));
}

TEST(compare, names_the_worst_element) {
  const double got[] = {1, 2.5, 3, 9};
  const std::vector<expected> want{{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {4, 4, 1}};
  EXPECT_TRUE(all_agree(vector_view<const double>{got, 1}, {want[0]}));
  const auto failed = all_agree(column_major(got, 2, 2, 2), want);
  EXPECT_FALSE(failed);
  EXPECT_NE(std::string(failed.message()).find("2 of 4 elements are wrong; the worst is (1, 1) = 9, expected 4"),
            std::string::npos)
      << failed.message();
}

TEST(painted, sees_a_write_beside_or_between_the_elements_and_none_within) {
  random_source random(1);
  painted<float> p(5);
  const vector_view<float> v{p.data(), 3, 2};
  p.fill(v, random);
  p.remember();
  EXPECT_TRUE(p.untouched());
  v(1) = 7;
  EXPECT_TRUE(p.untouched_outside(v));
  EXPECT_FALSE(p.untouched());
  for (const std::int64_t at : {-1, 1, 3, 5}) {
    const float kept = p.data()[at];
    p.data()[at] = 0;
    EXPECT_FALSE(p.untouched_outside(v)) << at;
    EXPECT_TRUE(std::isnan(kept)) << "what is no element is poisoned";
    p.data()[at] = kept;
  }
  EXPECT_TRUE(p.untouched_outside(v));
}

TEST(random, the_same_seed_gives_the_same_choices) {
  random_source a(5), b(5), c(6);
  bool same = true, other = true;
  for (int i = 0; i < 20; ++i) {
    const auto x = a.between(-1000, 1000);
    same &= x == b.between(-1000, 1000);
    other &= x == c.between(-1000, 1000);
    EXPECT_LE(std::abs(x), 1000);
  }
  EXPECT_TRUE(same);
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace troupe::numerics
