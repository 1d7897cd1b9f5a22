// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <tests/numerics/compare.hpp>
#include <troupe/base/half.hpp>

namespace troupe::numerics {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

template <class T>
dense matrix(std::int64_t rows, std::int64_t columns, std::initializer_list<T> by_columns) {
  dense out(rows, columns);
  std::int64_t at = 0;
  for (const T& v : by_columns) out(at % rows, at / rows) = v, ++at;
  return out;
}

TEST(layouts, begin_at_the_end_of_the_memory_for_a_negative_increment) {
  const layout forth = vector_of(3, 2), back = vector_of(3, -2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(forth.place(i, 0), 2 * i);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back.place(i, 0), 4 - 2 * i);
  EXPECT_EQ(back.span, 5);
}

// The examples of the BLAS and LAPACK manuals.
TEST(layouts, place_bands_and_packed_triangles_as_the_manuals_do) {
  const layout b = band(5, 5, 2, 1, 4);  // a band of 2 below and 1 above, in 4 rows
  EXPECT_EQ(b.place(0, 0), 1);
  EXPECT_EQ(b.place(0, 1), 4 + 0);
  EXPECT_EQ(b.place(3, 1), 4 + 3);
  EXPECT_LT(b.place(4, 1), 0);
  EXPECT_LT(b.place(0, 2), 0);
  const layout upper = packed_triangle(false, false, 4), lower = packed_triangle(true, false, 4);
  EXPECT_EQ(upper.place(0, 1), 1);
  EXPECT_EQ(upper.place(1, 1), 2);
  EXPECT_EQ(upper.place(0, 3), 6);
  EXPECT_LT(upper.place(1, 0), 0);
  EXPECT_EQ(lower.place(1, 0), 1);
  EXPECT_EQ(lower.place(1, 1), 4);
  EXPECT_EQ(lower.place(3, 3), 9);
  EXPECT_LT(lower.place(0, 1), 0);
}

TEST(layouts, give_each_element_its_own_place_within_the_span) {
  for (const bool lower : {true, false})
    for (const bool unit : {true, false})
      for (const layout& l :
           {general(3, 4, 5), vector_of(4, -3), triangle_of(lower, unit, 4, 6), packed_triangle(lower, unit, 5),
            band(4, 6, 1, 2, 5), band(6, 4, 7, 0, 8), band_triangle(lower, unit, 5, 2, 4)}) {
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < l.rows; ++i)
          for (std::int64_t j = 0; j < l.columns; ++j) {
            const std::int64_t at = l.place(i, j);
            if (at < 0) continue;
            EXPECT_LT(at, l.span);
            EXPECT_TRUE(seen.insert(at).second) << "(" << i << ", " << j << ")";
          }
        EXPECT_FALSE(seen.empty());
      }
}

TEST(dense, completes_symmetric_and_hermitian_matrices) {
  const dense given = matrix<number>(2, 2, {number(1, 5), number(2, 3), number(nan, nan), number(4, 6)});
  const dense symmetric = given.completed(true, false), hermitian = given.completed(true, true);
  EXPECT_EQ(symmetric(0, 1), number(2, 3));
  EXPECT_EQ(symmetric(0, 0), number(1, 5));
  EXPECT_EQ(hermitian(0, 1), number(2, -3));
  EXPECT_EQ(hermitian(1, 0), number(2, 3));
  EXPECT_EQ(hermitian(1, 1), number(4, 0)) << "a Hermitian diagonal is real";
  EXPECT_EQ(given.transposed().completed(false, false)(1, 0), number(2, 3));
}

// Computed by hand: 2 * [1 3; 2 4] * [5 7; 6 8] - [1 1; 1 1].
TEST(reference, multiplies_matrices) {
  const dense a = matrix(2, 2, {1, 2, 3, 4}), b = matrix(2, 2, {5, 6, 7, 8}), c = matrix(2, 2, {1, 1, 1, 1});
  const answers got = reference::product(2, a, b, -1, c);
  const double want[] = {45, 67, 61, 91};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got(i % 2, i / 2).value, want[i]) << i;
  EXPECT_EQ(got(0, 0).magnitude, 47) << "absolute values add up, whatever their sign";
}

TEST(reference, multiplies_complex_numbers) {
  const dense i = matrix<number>(1, 1, {number(0, 1)}), z = matrix<number>(1, 1, {number(3, 4)});
  EXPECT_EQ(reference::product(i, z)(0, 0).value, number(-4, 3));
  EXPECT_EQ(reference::product(i.conjugated(), z)(0, 0).value, number(4, -3));
}

TEST(reference, skips_operands_with_a_factor_of_0) {
  const dense bad = matrix(1, 1, {nan}), good = matrix(1, 1, {3});
  EXPECT_EQ(reference::product(1, good, good, 0, bad)(0, 0).value, 9);
  EXPECT_EQ(reference::product(0, bad, good, 1, good)(0, 0).value, 3);
  EXPECT_TRUE(reference::product(1, good, good, 1, bad)(0, 0).value.is_nan());
  EXPECT_TRUE(reference::scaled(0, bad)(0, 0).value.is_nan()) << "scaled multiplies";
}

TEST(compare, allows_rounding_errors_and_no_more) {
  const expected e{1000, 4000, 10};  // cancellation: the bound follows the magnitude
  const double bound = 10 * 0x1p-53 * 4000;
  EXPECT_TRUE(agrees(1000.0, e));
  EXPECT_TRUE(agrees(1000.0 + bound * 0.9, e));
  EXPECT_FALSE(agrees(1000.0 + bound * 1.1, e));
  EXPECT_FALSE(agrees(1000.0 - bound * 1.1, e));
  EXPECT_TRUE(agrees(1000.0f + static_cast<float>(bound * 1.1), e)) << "float rounds more coarsely";
  EXPECT_FALSE(agrees(0.0, e));
}

TEST(compare, distinguishes_nan_and_infinities) {
  EXPECT_TRUE(agrees(nan, expected{nan, 1, 1}));
  EXPECT_FALSE(agrees(1.0, expected{nan, 1, 1}));
  EXPECT_FALSE(agrees(nan, expected{1, 1, 1}));
  EXPECT_TRUE(agrees(inf, expected{inf, inf, 1}));
  EXPECT_FALSE(agrees(-inf, expected{inf, inf, 1}));
  EXPECT_FALSE(agrees(inf, expected{1, 1, 1}));
}

TEST(compare, compares_both_parts_of_a_complex_number) {
  const expected e{number(3, 4), 7, 1};
  EXPECT_TRUE(agrees(complex64(3, 4), e));
  EXPECT_FALSE(agrees(complex64(3, 5), e));
  EXPECT_FALSE(agrees(complex64(2, 4), e));
}

TEST(compare, compares_whole_numbers_exactly) {
  EXPECT_TRUE((agrees<std::int32_t, std::int32_t>(7, expected{7, 1000, 10})));
  EXPECT_FALSE((agrees<std::int32_t, std::int32_t>(8, expected{7, 1000, 10})));
}

TEST(compare, allows_for_the_precision_of_the_stored_type) {
  const expected e{1 + 0x1p-11L, 1, 1};
  EXPECT_TRUE((agrees<half, float>(half(1.0f), e)));
  EXPECT_FALSE((agrees<half, float>(half(1.002f), e)));
}

TEST(compare, names_the_worst_element) {
  answers want(2, 2);
  stored<double> got(general(2, 2, 3));
  got.set(matrix(2, 2, {1.0, 2.5, 3.0, 9.0}));
  for (int i = 0; i < 4; ++i) want(i % 2, i / 2) = {i + 1, static_cast<wide>(i + 1), 1};
  const auto failed = all_agree(got, want);
  EXPECT_FALSE(failed);
  EXPECT_NE(std::string(failed.message()).find("2 of 4 elements are wrong; the worst is (1, 1) = 9, expected 4"),
            std::string::npos)
      << failed.message();
}

TEST(stored, detects_writes_outside_its_elements_only) {
  random_source random(1);
  stored<float> p(vector_of(3, 2));
  p.fill(random);
  EXPECT_TRUE(p.untouched());
  p.at(1) = 7;
  EXPECT_TRUE(p.untouched_outside());
  EXPECT_FALSE(p.untouched());
  EXPECT_EQ(p.now()(1), 7);
  EXPECT_FALSE(p.before()(1) == 7);
  for (const std::int64_t at : {-1, 1, 3, 5}) {
    const float kept = p.data()[at];
    p.data()[at] = 0;
    EXPECT_FALSE(p.untouched_outside()) << at;
    EXPECT_TRUE(std::isnan(kept)) << "memory outside the elements is NaN";
    p.data()[at] = kept;
  }
  EXPECT_TRUE(p.untouched_outside());
}

TEST(random, repeats_its_choices_for_a_seed) {
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
