// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <troupe/base/half.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/tree.hpp>

namespace troupe::epilogue {
namespace {

// Returns memory of this process, without a device.
template <class T, std::size_t N>
memory_range range_of(std::array<T, N>& x) {
  return {{}, reinterpret_cast<std::uint64_t>(x.data()), sizeof x};
}
template <class T, std::size_t N>
buffer<T> buffer_of(std::array<T, N>& x) {
  return buffer<T>(range_of(x));
}

TEST(epilogue_expression, to_string_shows_the_tree) {
  std::array<float, 4> bias{};
  EXPECT_EQ(to_string(acc), "acc");
  EXPECT_EQ(to_string(relu(acc + row(buffer_of(bias)))), "relu((acc + row[0]))");
  EXPECT_EQ(to_string(2 * acc - 0.5f / column(buffer_of(bias))), "((2 * acc) - (0.5 / column[0]))");
  EXPECT_EQ(to_string(silu(left) * right), "(silu(left) * right)");
  EXPECT_EQ(to_string(clamp(acc, -1, 6)), "min(max(acc, -1), 6)");
  EXPECT_EQ(to_string(select(acc > 0, acc, -acc)), "select(<(0, acc), acc, -acc)");
  EXPECT_EQ(to_string(acc >= 1), "<=(1, acc)");
  EXPECT_EQ(to_string(acc != 1), "(1 - ==(acc, 1))");
  EXPECT_EQ(to_string(convert<half>(acc * number(buffer_of(bias)))), "convert<f16>((acc * number[0]))");
  EXPECT_EQ(to_string(leaky_relu(acc, 0.1)), "leaky_relu(acc, 0.1)");
}

TEST(epilogue_expression, equal_subexpressions_are_computed_once) {
  std::array<float, 4> bias{}, other{};
  const expression x = acc + row(buffer_of(bias));
  EXPECT_EQ((x * sigmoid(x)).nodes().size(), 5u);
  EXPECT_EQ((row(buffer_of(bias)) + row(buffer_of(bias))).nodes().size(), 2u);
  EXPECT_EQ((row(buffer_of(bias)) + row(buffer_of(bias))).memory().size(), 1u);
  EXPECT_EQ((row(buffer_of(bias)) + row(buffer_of(other))).memory().size(), 2u);
  EXPECT_EQ((row(buffer_of(bias)) + column(buffer_of(bias))).memory().size(), 2u) << "they have different shapes";
  EXPECT_EQ((row(buffer_of(bias)) + number(buffer_of(bias))).memory().size(), 2u) << "they have different shapes";
}

TEST(epilogue_expression, neutral_operations_are_left_out) {
  EXPECT_EQ(to_string(1 * acc + 0), "acc");
  EXPECT_EQ(to_string(0 + acc * 1 - 0), "acc");
  EXPECT_EQ(to_string(acc / 1), "acc");
  std::array<float, 4> c{};
  EXPECT_EQ(to_string(acc + 0 * row(buffer_of(c))), "acc") << "beta = 0 does not read C";
  EXPECT_TRUE((acc + 0 * row(buffer_of(c))).memory().empty());
  EXPECT_EQ(to_string(expression(2) * 3 + 1), "7");
  EXPECT_EQ(to_string(-expression(2)), "-2");
  EXPECT_NE(to_string(acc - acc), "0") << "infinity minus infinity is not 0";
}

TEST(epilogue_expression, a_factor_of_zero_does_not_remove_an_output) {
  std::array<float, 4> sums{};
  const expression e = 0 * sum_columns(buffer_of(sums), acc);
  EXPECT_EQ(to_string(e), "(0 * reduce[0] = acc)");
  ASSERT_EQ(e.memory().size(), 1u);
  EXPECT_EQ(e.memory()[0].mode, access_mode::write);
}

TEST(epilogue_expression, a_decoded_tree_equals_the_encoded_expression) {
  std::array<float, 6> bias{}, sums{};
  const expression sent = sum_rows(buffer_of(sums), relu(0.25 * acc + row(buffer_of(bias))));
  std::vector<std::byte> bytes(sent.encoded_bytes());
  sent.encode(bytes.data());
  const tree got(bytes.data(), bytes.size());
  ASSERT_EQ(got.nodes().size(), sent.nodes().size());
  EXPECT_TRUE(std::equal(got.nodes().begin(), got.nodes().end(), sent.nodes().begin()));
  ASSERT_EQ(got.numbers().size(), 1u);
  EXPECT_EQ(got.numbers()[0], 0.25);
  ASSERT_EQ(got.memory().size(), 2u);
  EXPECT_EQ(got.memory()[0].address, reinterpret_cast<std::uint64_t>(bias.data()));
  EXPECT_EQ(got.memory()[0].shape, (matrix_shape{1, 6, 6, 1}));
  EXPECT_EQ(got.memory()[1].mode, access_mode::write);
  EXPECT_EQ(got.memory()[1].type, dtype::f32);
  EXPECT_FALSE(got.is_plain());
  EXPECT_FALSE(got.is_paired());
}

TEST(epilogue_expression, the_batch_stride_is_0_if_all_products_share_an_operand) {
  std::array<float, 24> values{};
  const auto stride_of = [&](extent count) {
    const expression e = acc + load(tensor<float>(buffer_of(values).slice(0, count * 6), {count, 2, 3}));
    std::vector<std::byte> bytes(e.encoded_bytes());
    e.encode(bytes.data());
    return tree(bytes.data(), bytes.size()).memory()[0].batch_stride;
  };
  EXPECT_EQ(stride_of(4), 6);
  EXPECT_EQ(stride_of(1), 0);
}

TEST(epilogue_expression, a_damaged_encoding_decodes_to_an_empty_tree) {
  const expression sent = relu(0.25 * acc);
  std::vector<std::byte> bytes(sent.encoded_bytes());
  sent.encode(bytes.data());
  EXPECT_TRUE(tree(bytes.data(), bytes.size() - 1).empty());
  EXPECT_TRUE(tree(bytes.data(), 3).empty());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {1, 0x80, 0xff}) {
      std::vector<std::byte> bad = bytes;
      bad[i] ^= static_cast<std::byte>(flip);
      const tree t(bad.data(), bad.size());
      for (std::size_t k = 0; k < t.nodes().size(); ++k)
        for (std::size_t a = 0; a < info(t.nodes()[k].what).arguments; ++a) EXPECT_LT(t.nodes()[k].arguments[a], k);
    }
}

TEST(epilogue_expression, an_expression_beyond_the_limits_is_too_large) {
  expression e = acc;
  for (int i = 0; i < 25; ++i) e = e + static_cast<double>(i + 1) * e;
  EXPECT_TRUE(e.is_too_large());
  EXPECT_LE(e.nodes().size(), most_nodes);
  EXPECT_TRUE((relu(e) + 1).is_too_large());
}

TEST(epilogue_expression, operands_are_named_by_kind_and_number) {
  std::array<float, 4> a{}, b{}, c{};
  const expression e = sum_all(buffer_of(c), acc + row(buffer_of(a)) * row(buffer_of(b)) + column(buffer_of(a)));
  const auto name = [&e](std::size_t i) { return operands_in<expression>::text_of(e, &e.memory()[i]); };
  EXPECT_EQ(name(0), ".row[0]");
  EXPECT_EQ(name(1), ".row[1]");
  EXPECT_EQ(name(2), ".column[0]");
  EXPECT_EQ(name(3), ".reduce[0]");
}

}  // namespace
}  // namespace troupe::epilogue
