// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/epilogue/testing/reference.hpp>

namespace troupe::epilogue {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

template <class T, std::size_t N>
buffer<T> buffer_of(std::array<T, N>& x) {
  return buffer<T>(memory_range{{}, reinterpret_cast<std::uint64_t>(x.data()), sizeof x});
}
// A matrix stored row by row.
template <class T, std::size_t N>
expression::memory_operand matrix_of(std::array<T, N>& x, std::int64_t rows, std::int64_t columns) {
  return {{{}, reinterpret_cast<std::uint64_t>(x.data()), sizeof x}, {rows, columns, columns, 1}, dtype_of<T>};
}

evaluated of(const expression& e, std::int64_t rows, std::int64_t columns,
             const std::function<double(std::int64_t, std::int64_t)>& product) {
  std::vector<std::byte> bytes(e.encoded_bytes());
  e.encode(bytes.data());
  const tree t(bytes.data(), bytes.size());
  EXPECT_FALSE(t.empty());
  return evaluate(t, rows, columns, product);
}
double at(const expression& e, double product) {
  return of(e, 1, 1, [product](auto, auto) { return product; }).result[0];
}

TEST(epilogue_reference, activations_match_their_formulas) {
  for (const double x : {-30.0, -4.0, -3.0, -1.5, -0.3, 0.0, 0.2, 1.0, 2.9, 3.0, 7.0, 40.0}) {
    const double s = 1 / (1 + std::exp(-x)), pi = std::acos(-1.0);
    const auto expect = [x](const expression& e, double expected) {
      EXPECT_NEAR(at(e, x), expected, 1e-12 * std::max(1.0, std::fabs(expected)))
          << to_string(e.nodes().back().what) << " of " << x;
    };
    expect(relu(acc), std::max(x, 0.0));
    expect(leaky_relu(acc, 0.1), x > 0 ? x : 0.1 * x);
    expect(gelu(acc), x * (1 + std::erf(x / std::sqrt(2.0))) / 2);
    expect(gelu_tanh(acc), x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x))) / 2);
    expect(silu(acc), x * s);
    expect(tanh(acc), std::tanh(x));
    expect(sigmoid(acc), s);
    expect(softplus(acc), std::log1p(std::exp(x)));
    expect(hard_swish(acc), x * std::min(std::max(x + 3, 0.0), 6.0) / 6);
    expect(clamp(acc, -1, 2), std::min(std::max(x, -1.0), 2.0));
    expect(abs(acc), std::fabs(x));
    expect(exp(acc), std::exp(x));
    expect(sign(acc), x > 0 ? 1 : x < 0 ? -1 : 0);
    expect(elu(acc, 0.5), x > 0 ? x : 0.5 * (std::exp(x) - 1));
  }
}

TEST(epilogue_reference, the_erfc_of_gpus_is_within_its_error) {
  for (float x = -12; x < 9.2f; x += 0.0007f) {
    const double exact = std::erfc(static_cast<double>(x));
    EXPECT_NEAR(static_cast<double>(fast_erfc(x)), exact, 5e-7 * exact) << x;
  }
  EXPECT_EQ(fast_erfc(static_cast<float>(infinite)), 0);
  EXPECT_EQ(fast_erfc(1e30f), 0);
  EXPECT_EQ(fast_erfc(static_cast<float>(-infinite)), 2);
  EXPECT_NEAR(fast_erfc(0), 1, 5e-7);
  EXPECT_TRUE(std::isnan(fast_erfc(static_cast<float>(std::nan("")))));
}

TEST(epilogue_reference, derivatives_match_finite_differences) {
  constexpr double h = 1e-6;
  const std::pair<expression, expression> pairs[] = {{relu(acc), d_relu(acc)},
                                                     {leaky_relu(acc, 0.2), d_leaky_relu(acc, 0.2)},
                                                     {gelu(acc), d_gelu(acc)},
                                                     {gelu_tanh(acc), d_gelu_tanh(acc)},
                                                     {silu(acc), d_silu(acc)},
                                                     {tanh(acc), d_tanh(acc)},
                                                     {sigmoid(acc), d_sigmoid(acc)},
                                                     {softplus(acc), d_softplus(acc)},
                                                     {hard_swish(acc), d_hard_swish(acc)},
                                                     {elu(acc, 0.5), d_elu(acc, 0.5)},
                                                     {sin(acc), cos(acc)},
                                                     {cos(acc), -sin(acc)},
                                                     {tan(acc), 1 + tan(acc) * tan(acc)},
                                                     {erf(acc), 1.1283791670955126 * exp(-acc * acc)}};
  for (const auto& [f, d] : pairs)
    for (const double x : {-5.0, -2.5, -1.0, -0.1, 0.1, 0.7, 2.0, 2.9, 4.0})
      EXPECT_NEAR(at(d, x), (at(f, x + h) - at(f, x - h)) / (2 * h), 1e-8)
          << to_string(d.nodes().back().what) << " at " << x;
}

TEST(epilogue_reference, derivatives_at_positive_numbers_match_finite_differences) {
  constexpr double h = 1e-6;
  const std::pair<expression, expression> pairs[] = {{log(acc), 1 / acc},
                                                     {sqrt(acc), 0.5 / sqrt(acc)},
                                                     {pow(acc, 2.5), 2.5 * pow(acc, 1.5)},
                                                     {pow(2, acc), std::log(2.0) * pow(2, acc)},
                                                     {atan2(acc, 2), 2 / (acc * acc + 4)},
                                                     {fmod(acc, 3), 1}};
  for (const auto& [f, d] : pairs)
    for (const double x : {0.1, 0.7, 2.0, 2.9, 4.0})
      EXPECT_NEAR(at(d, x), (at(f, x + h) - at(f, x - h)) / (2 * h), 1e-7) << to_string(f.nodes().back().what);
}

TEST(epilogue_reference, elementary_functions_return_known_values) {
  EXPECT_EQ(at(sqrt(acc), 9), 3);
  EXPECT_EQ(at(log(acc), 1), 0);
  EXPECT_EQ(at(sin(acc), 0), 0);
  EXPECT_EQ(at(cos(acc), 0), 1);
  EXPECT_NEAR(at(atan2(acc, -1), 1), 2.356194490192345, 1e-15) << "the first argument is y";
  EXPECT_NEAR(at(erf(acc), 0.5), 0.5204998778130465, 1e-15);
  EXPECT_EQ(at(pow(acc, 3), -2), -8);
  EXPECT_EQ(at(fmod(acc, 3), -7), -1) << "the sign is that of the first argument";
  const double x[] = {-2.5, -0.5, 0.5, 1.5, 2.2}, down[] = {-3, -1, 0, 1, 2}, up[] = {-2, 0, 1, 2, 3},
               near[] = {-2, 0, 0, 2, 2};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(at(floor(acc), x[i]), down[i]);
    EXPECT_EQ(at(ceil(acc), x[i]), up[i]);
    EXPECT_EQ(at(nearest(acc), x[i]), near[i]);
  }
  for (const double a : {0.0, 2.0, std::nan("")})
    for (const double b : {0.0, -1.0}) {
      EXPECT_EQ(at(logical_and(acc, b), a), a != 0 && b != 0);
      EXPECT_EQ(at(logical_or(acc, b), a), a != 0 || b != 0);
      EXPECT_EQ(at(logical_not(acc), a), a == 0);
    }
}

TEST(epilogue_reference, arithmetic_and_comparisons_are_exact) {
  EXPECT_EQ(at(2 * acc + 1, 3), 7);
  EXPECT_EQ(at(1 - acc / 4, 2), 0.5);
  EXPECT_EQ(at(-acc, 2), -2);
  EXPECT_EQ(at(min(acc, 1) + max(acc, 1), 5), 6);
  for (const double x : {1.0, 2.0, 3.0}) {
    EXPECT_EQ(at(acc == 2, x), x == 2);
    EXPECT_EQ(at(acc != 2, x), x != 2);
    EXPECT_EQ(at(acc < 2, x), x < 2);
    EXPECT_EQ(at(acc <= 2, x), x <= 2);
    EXPECT_EQ(at(acc > 2, x), x > 2);
    EXPECT_EQ(at(acc >= 2, x), x >= 2);
    EXPECT_EQ(at(select(acc > 2, 10, 20), x), x > 2 ? 10 : 20);
  }
}

TEST(epilogue_reference, nan_is_propagated) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const expression all[] = {relu(acc),
                            leaky_relu(acc, 0.1),
                            gelu(acc),
                            gelu_tanh(acc),
                            silu(acc),
                            tanh(acc),
                            sigmoid(acc),
                            softplus(acc),
                            hard_swish(acc),
                            clamp(acc, 0, 1),
                            min(1, acc),
                            max(1, acc),
                            abs(acc),
                            exp(acc),
                            sign(acc),
                            d_relu(acc),
                            d_gelu(acc),
                            d_silu(acc),
                            d_leaky_relu(acc, 0.1),
                            d_hard_swish(acc),
                            d_tanh(acc),
                            d_sigmoid(acc),
                            d_softplus(acc),
                            d_gelu_tanh(acc),
                            sqrt(acc),
                            log(acc),
                            sin(acc),
                            cos(acc),
                            tan(acc),
                            atan2(acc, 1),
                            erf(acc),
                            pow(acc, 2),
                            fmod(acc, 2),
                            floor(acc),
                            ceil(acc),
                            nearest(acc),
                            elu(acc, 1),
                            d_elu(acc, 1)};
  for (const expression& e : all) EXPECT_TRUE(std::isnan(at(e, nan))) << to_string(e.nodes().back().what);
  EXPECT_EQ(at(acc == acc, nan), 0);
}

TEST(epilogue_reference, rows_columns_matrices_and_numbers_are_read_from_memory) {
  std::array<float, 3> bias{1, 2, 3};
  std::array<half, 2> scale{half(10.0f), half(100.0f)};
  std::array<double, 1> one{0.5};
  std::array<std::int8_t, 6> c{1, -1, 2, -2, 3, -3};
  const auto got = of(acc * column(buffer_of(scale)) + row(buffer_of(bias)) +
                          number(buffer_of(one)) * expression::reading(op::load, matrix_of(c, 2, 3)),
                      2, 3, [](auto i, auto j) { return static_cast<double>(i + 2 * j); });
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(got.result[static_cast<std::size_t>(i + 2 * j)],
                (i + 2 * j) * (i == 0 ? 10.0 : 100.0) + j + 1 + 0.5 * c[static_cast<std::size_t>(3 * i + j)]);
}

TEST(epilogue_reference, stores_and_reductions_are_written_beside_the_result) {
  std::array<float, 6> before{};
  std::array<float, 2> of_rows{};
  std::array<float, 3> of_columns{};
  std::array<float, 1> of_all{};
  auto product = [](auto i, auto j) { return i == 0 ? j - 2.0 : -static_cast<double>(j) - 4; };  // -2 -1 0; -4 -5 -6
  const expression x = expression::writing(acc, matrix_of(before, 2, 3));
  const auto got =
      of(absmax_all(buffer_of(of_all), max_columns(buffer_of(of_columns), sum_rows(buffer_of(of_rows), x))) * 2, 2, 3,
         product);
  ASSERT_EQ(got.written.size(), 4u);
  EXPECT_EQ(got.written[0], (std::vector<double>{-2, -4, -1, -5, 0, -6}));
  EXPECT_EQ(got.written[1], (std::vector<double>{-3, -15}));
  EXPECT_EQ(got.written[2], (std::vector<double>{-2, -1, 0}));
  EXPECT_EQ(got.written[3], (std::vector<double>{6}));
  EXPECT_EQ(got.result, (std::vector<double>{-4, -8, -2, -10, 0, -12}));
}

TEST(epilogue_reference, left_and_right_are_the_halves_of_the_columns) {
  const auto got = of(left * right, 1, 2, [](auto, auto j) { return static_cast<double>(j + 1); });  // 1 2 | 3 4
  EXPECT_EQ(got.result, (std::vector<double>{3, 8}));
}

TEST(epilogue_reference, each_product_of_a_batch_reads_its_own_operands) {
  std::array<float, 4> rows{1, 2, 3, 4};
  expression::memory_operand m = matrix_of(rows, 1, 2);
  m.batch = 2, m.batch_stride = 2;
  const expression e = acc + expression::reading(op::load_row, m);
  std::vector<std::byte> bytes(e.encoded_bytes());
  e.encode(bytes.data());
  const tree t(bytes.data(), bytes.size());
  EXPECT_EQ(evaluate(t, 1, 2, [](auto, auto) { return 10.0; }, 0).result, (std::vector<double>{11, 12}));
  EXPECT_EQ(evaluate(t, 1, 2, [](auto, auto) { return 10.0; }, 1).result, (std::vector<double>{13, 14}));
}

TEST(epilogue_reference, truth_values_are_stored_as_0_and_1_and_other_bytes_are_read_as_1) {
  const std::array<std::uint8_t, 6> stored{0, 1, 2, 3, 128, 255}, read{0, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < stored.size(); ++i) EXPECT_EQ(number_at(&stored[i], dtype::boolean), read[i]);
  for (const double x : {0.0, 0.4, -1.0, 255.0, infinite, std::nan("")}) {
    std::uint8_t byte = 77;
    put_number(&byte, dtype::boolean, x);
    EXPECT_EQ(byte, x == 0 ? 0 : 1) << x;
  }
}

TEST(epilogue_reference, conversion_rounds_once) {
  EXPECT_EQ(at(convert<half>(acc), 1.0 + 0x1p-11), 1.0) << "ties to even";
  EXPECT_EQ(at(convert<half>(acc), 1.0 + 0x1p-11 + 0x1p-40), 1.0 + 0x1p-10) << "float would have lost the last bit";
  EXPECT_EQ(at(convert<half>(acc), 1e6), infinite);
  EXPECT_EQ(at(convert<float8_e4m3>(acc), 1e6), 448);
  EXPECT_EQ(at(convert<float8_e4m3>(acc), -infinite), -448);
  EXPECT_EQ(at(convert<float8_e5m2>(acc), 1e6), 57344);
  EXPECT_EQ(at(convert<std::int8_t>(acc), 200), 127);
  EXPECT_EQ(at(convert<std::int8_t>(acc), -200), -128);
  EXPECT_EQ(at(convert<std::int8_t>(acc), 2.5), 2);
  EXPECT_EQ(at(convert<std::int8_t>(acc), std::nan("")), 0);
  EXPECT_EQ(at(convert<std::int64_t>(acc), 1e30), 0x1p63) << "the double nearest to the largest i64";
  EXPECT_EQ(at(convert<float>(acc), 0.1), static_cast<double>(0.1f));
  for (const double x : {-infinite, -255.0, -1.0, -0.4, 1e-30, 0.4, 1.0, 2.0, 256.0, std::nan("")})
    EXPECT_EQ(at(convert<bool>(acc), x), 1) << x;
  for (const double x : {0.0, -0.0}) EXPECT_EQ(at(convert<bool>(acc), x), 0);
  std::array<float, 1> scale{4};
  EXPECT_EQ(at(quantize<std::int8_t>(acc, number(buffer_of(scale))), 10.2), 41);
}

}  // namespace
}  // namespace troupe::epilogue
