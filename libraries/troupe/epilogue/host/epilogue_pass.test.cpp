// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/host/epilogue_pass.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/epilogue/testing/poison.hpp>
#include <troupe/epilogue/testing/random_epilogue.hpp>
#include <troupe/epilogue/testing/reference.hpp>

namespace troupe::epilogue::host {
namespace {

// Computes an epilogue in parts, and compares its result and all outputs with the reference.
template <class N>
void expect_as_defined(const expression& e, std::int64_t rows, std::int64_t columns, bool by_rows, dtype type,
                       std::int64_t part, double tolerance) {
  std::vector<std::byte> encoded(e.encoded_bytes());
  e.encode(encoded.data());
  const tree t(encoded.data(), encoded.size());
  ASSERT_FALSE(t.empty());
  const std::int64_t halves = t.is_paired() ? 2 : 1;
  const auto product = [&](std::int64_t i, std::int64_t j) {
    return std::round(std::sin(static_cast<double>(1 + i * 7 + j * 13)) * 32) / 8;  // sums of a few are exact
  };
  const evaluated expected = evaluate(t, rows, columns, product);

  const matrix_shape s{rows, columns, by_rows ? columns + 3 : 1, by_rows ? 1 : rows + 3};
  const std::size_t size = bytes_of(type);
  std::vector<std::byte> result(static_cast<std::size_t>(rows * s.row_stride + columns * s.column_stride + 8) * size);
  for (std::size_t i = 0; i < result.size() / size; ++i) testing::put_poison(result.data() + i * size, type);
  const epilogue_pass<N> what(t, {result.data(), type, s});
  const std::int64_t length = what.line_length(), lines = what.lines();
  std::vector<partial_reductions> parts;
  for (std::int64_t l = 0; l < lines; l += part)
    for (std::int64_t i = 0; i < length; i += 2 * part) {
      const rectangle where{l, std::min(part, lines - l), i, std::min(2 * part, length - i)};
      std::vector<N> sums(static_cast<std::size_t>(where.lines * where.count * halves));
      for (std::int64_t h = 0; h < halves; ++h)
        for (std::int64_t a = 0; a < where.lines; ++a)
          for (std::int64_t b = 0; b < where.count; ++b) {
            const std::int64_t line = l + a, element = i + b;
            const std::int64_t row = what.lines_are_columns() ? element : line,
                               column = (what.lines_are_columns() ? line : element) + h * columns;
            sums[static_cast<std::size_t>(((h * where.lines) + a) * where.count + b)] =
                static_cast<N>(product(row, column));
          }
      const N* const left = sums.data();
      parts.push_back(what.run(where, {left, left + (halves - 1) * where.lines * where.count, where.count}));
    }
  what.finish(parts);

  const auto expect_near = [&](double got, double want, dtype stored, const char* of) {
    const double scale = std::max(1.0, std::fabs(want));
    const double spacing =
        stored == dtype::f64 ? 0 : std::fabs(nearest_of(stored, want * (1 + 0x1p-7)) - nearest_of(stored, want));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got) || (got == 0 && stored >= dtype::i8)) << of;
      return;
    }
    const double rounded = nearest_of(stored, want);
    if (got == rounded) return;
    EXPECT_NEAR(got, rounded, tolerance * scale + (tolerance > 0 ? 1.01 * spacing : 0)) << of;
  };
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i * s.row_stride + j * s.column_stride);
      expect_near(number_at(result.data() + at * size, type), expected.result[static_cast<std::size_t>(i + j * rows)],
                  type, "the result");
    }
  for (std::size_t k = 0; k < t.memory().size(); ++k) {
    const memory_operand& m = t.memory()[k];
    if (expected.written[k].empty()) continue;
    for (std::size_t i = 0; i < expected.written[k].size(); ++i) {
      const auto n = static_cast<std::int64_t>(i);
      expect_near(number_at(m.at(0, n % m.shape.rows, n / m.shape.rows), m.type), expected.written[k][i], m.type,
                  "an output");
    }
  }
}

std::vector<op> functions() {
  std::vector<op> out;
  for (int o = 0; is_known(static_cast<op>(o)) || o == 0; ++o)
    if (is_function(static_cast<op>(o))) out.push_back(static_cast<op>(o));
  return out;
}

class host_epilogues : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(random, host_epilogues, ::testing::Range(0, 200));

TEST_P(host_epilogues, random_trees_match_the_reference) {
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const std::int64_t rows = 1 + below(40), columns = 1 + below(40), part = 1 + below(16);
  const bool by_rows = below(2) == 0;
  testing::random_epilogue some(random(), rows, columns);
  const expression e = some.make(1 + static_cast<std::size_t>(below(5)));
  ASSERT_FALSE(e.is_too_large());
  expect_as_defined<double>(e, rows, columns, by_rows, dtype::f64, part, 1e-11);
}

TEST(epilogue_float_functions, each_function_matches_the_reference_in_an_epilogue) {
  for (const op what : functions()) {
    const expression x = acc, y = 0.25, z = 2;
    const expression* const all[] = {&x, &y, &z};
    const expression e = expression::of(what, std::span(all).first(info(what).arguments));
    for (const bool by_rows : {false, true}) expect_as_defined<float>(e, 33, 7, by_rows, dtype::f32, 5, 3e-7);
  }
}

TEST(epilogue_float_functions, functions_are_accurate_over_the_whole_range) {
  std::vector<float> x, out;
  for (double v = -120; v < 120; v += 0.0171) x.push_back(static_cast<float>(v));
  for (double v = -40; v < 7; v += 0.01)
    for (const double s : {-1.0, 1.0}) x.push_back(static_cast<float>(s * std::exp2(v)));
  const std::vector<float> slope(x.size(), 0.25f), other(x.size(), 2);
  out.resize(x.size());
  for (const op what : functions()) {
    apply(what, out.data(), x.data(), slope.data(), other.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = value_of<double>(what, x[i], slope[i], other[i]);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(out[i])) << to_string(what) << " of " << x[i];
      else if (std::fabs(want) > std::numeric_limits<float>::max())
        EXPECT_TRUE(std::isinf(out[i])) << to_string(what) << " of " << x[i];
      else
        ASSERT_NEAR(out[i], want, 2.5e-7 * std::max(1.0, std::fabs(want))) << to_string(what) << " of " << x[i];
    }
  }
}

// Expects that the largest error of `what` is at most `units` units in the last place of a float.
void expect_accurate(op what, const std::vector<float>& x, const std::vector<float>& y, double units) {
  std::vector<float> out(x.size());
  // In pieces, as an engine does: a large argument changes the algorithm for all arguments of its piece.
  for (std::size_t i = 0; i < x.size(); i += 64)
    apply(what, out.data() + i, x.data() + i, y.data() + i, y.data() + i,
          static_cast<std::int64_t>(std::min<std::size_t>(64, x.size() - i)));
  double most = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = value_of<double>(what, x[i], y[i]);
    const auto rounded = static_cast<float>(want);
    if (out[i] == rounded || (std::isnan(want) && std::isnan(out[i]))) continue;
    const double unit = std::fabs(std::nextafter(rounded, INFINITY) - rounded);
    const double error = std::isinf(rounded)
                             ? std::fabs(std::fabs(out[i]) - std::numeric_limits<float>::max()) / 0x1p104
                             : std::fabs(out[i] - want) / unit;
    if (!(error <= most)) most = error, at = i;
  }
  EXPECT_LE(most, units) << to_string(what) << " of " << x[at] << " and " << y[at] << " is " << out[at];
}

TEST(epilogue_float_functions, elementary_functions_are_within_a_few_units_in_the_last_place) {
  std::mt19937_64 random(11);
  const auto any = [&](double least, double most) {
    std::vector<float> out(20000);
    std::uniform_real_distribution<double> exponent(least, most);
    for (float& v : out) v = static_cast<float>((random() % 2 == 0 ? 1 : -1) * std::exp2(exponent(random)));
    return out;
  };
  const auto near_one = any(-3, 1), all = any(-149, 128), other = any(-149, 128);
  for (const op what :
       {op::square_root, op::floor, op::ceiling, op::nearest_whole, op::modulo, op::logical_and, op::logical_or}) {
    expect_accurate(what, all, other, 0.5);
    expect_accurate(what, any(-2, 20), any(-2, 3), 0.5);
  }
  for (const op what : {op::sine, op::cosine, op::tangent}) {
    expect_accurate(what, any(-30, 19.9), other, 0.6);
    expect_accurate(what, all, other, 1);
  }
  for (const auto& x : {near_one, all, any(-0.01, 0.01), any(-10, 10)}) {
    expect_accurate(op::logarithm, x, other, 1.5);
    expect_accurate(op::error_function, x, other, 2.5);
    expect_accurate(op::elu, x, near_one, 2.5);
    expect_accurate(op::d_elu, x, near_one, 2.5);
  }
  expect_accurate(op::arctangent, all, other, 4);
  expect_accurate(op::arctangent, near_one, any(-3, 1), 4);
  expect_accurate(op::power, all, other, 1);
  expect_accurate(op::power, any(-8, 8), any(-3, 5), 1);
  expect_accurate(op::power, any(-0.01, 0.01), any(0, 14), 1);
  expect_accurate(op::power, any(-149, -120), any(-3, 1), 1);
}

TEST(epilogue_float_functions, functions_of_two_arguments_handle_zero_infinity_and_nan_as_defined) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f, -0.0f, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 0.25f, 1e10f, -1e10f, inf, -inf, nan, 1e-40f};
  for (const op what : {op::power, op::modulo, op::arctangent, op::logical_and, op::logical_or, op::elu, op::d_elu})
    for (const float x : special)
      for (const float y : special) {
        float out[40];
        const std::vector<float> xs(40, x), ys(40, y);
        apply(what, out, xs.data(), ys.data(), ys.data(), 40);
        const auto want = static_cast<float>(value_of<double>(what, x, y));
        for (const float o : {out[0], out[39]}) {
          if (std::isnan(want))
            EXPECT_TRUE(std::isnan(o)) << to_string(what) << " of " << x << " and " << y << " is " << o;
          else if (std::isfinite(want) && want != 0)
            EXPECT_NEAR(o, want, 3e-7 * std::fabs(want)) << to_string(what) << " of " << x << " and " << y;
          else
            EXPECT_TRUE(o == want) << to_string(what) << " of " << x << " and " << y << " is " << o;
        }
      }
  const float x[] = {0.0f, -0.0f, -1.0f, inf, nan, 1e-42f, -inf};
  float out[7];
  apply(op::logarithm, out, x, x, x, 7);
  EXPECT_EQ(out[0], -inf);
  EXPECT_EQ(out[1], -inf);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], inf);
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_NEAR(out[5], std::log(static_cast<double>(x[5])), 1e-5);
  EXPECT_TRUE(std::isnan(out[6]));
}

TEST(epilogue_float_functions, nan_infinities_and_negative_zero_give_the_defined_values) {
  const float special[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(), -0.0f};
  const float y[] = {0.5f, 0.5f, 0.5f, 0.5f};
  for (const op what : functions()) {
    float out[4];
    apply(what, out, special, y, y, 4);
    for (int i = 0; i < 4; ++i) {
      const double want = value_of<double>(what, special[i], y[i], y[i]);
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(out[i]) || std::isfinite(out[i])) << to_string(what);
      else
        EXPECT_NEAR(std::isinf(want) ? (out[i] == static_cast<float>(want) ? 0 : 1) : out[i] - want, 0, 1e-7)
            << to_string(what) << " of " << special[i];
      if (i == 0) {
        EXPECT_EQ(std::isnan(out[i]), std::isnan(want)) << to_string(what) << " of NaN";
      }
    }
  }
}

TEST(host_epilogue_pass, results_are_rounded_to_each_type_and_may_replace_the_product) {
  for (const dtype type :
       {dtype::f32, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2, dtype::i8, dtype::i32, dtype::f64})
    for (const bool by_rows : {false, true}) {
      expect_as_defined<float>(2 * acc + 1, 20, 9, by_rows, type, 7, 0);
      expect_as_defined<float>(left - right, 6, 5, by_rows, type, 4, 0);
    }
  std::vector<float> x{1, -2, 3, -4};
  const expression e = relu(acc) + 1;
  std::vector<std::byte> encoded(e.encoded_bytes());
  e.encode(encoded.data());
  const tree t(encoded.data(), encoded.size());
  const epilogue_pass<float> what(t, {x.data(), dtype::f32, {4, 1, 1, 4}});
  what.run({0, 1, 0, 4}, {x.data(), x.data(), 4});
  EXPECT_EQ(x, (std::vector<float>{2, 1, 4, 1}));
}

}  // namespace
}  // namespace troupe::epilogue::host
