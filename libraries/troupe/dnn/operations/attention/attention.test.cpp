// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares attention with cases that are computed by hand, and its gradients with finite differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/operations/attention/dropping.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>

namespace troupe::dnn {
namespace {

using extents = std::vector<std::int64_t>;
using numbers = std::vector<double>;
constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

tensor_shape dense(std::span<const std::int64_t> e) {
  tensor_shape s{.rank = e.size()};
  std::copy(e.begin(), e.end(), s.extents.begin());
  s.strides = dense_strides(s);
  return s;
}

class dnn_attention : public ::testing::Test {
 protected:
  struct variable {
    numbers values;
    extents shape;
    value read() const {
      return value(in_any({{}, reinterpret_cast<std::uint64_t>(values.data()), values.size() * sizeof(double)},
                          dense(shape), dtype::f64));
    }
  };
  variable& given(const extents& shape, numbers values) { return variables_.emplace_back(std::move(values), shape); }
  variable& any(const extents& shape) {
    numbers out(static_cast<std::size_t>(elements_of(dense(shape))));
    std::uniform_real_distribution<double> between(-1, 1);
    for (double& x : out) x = between(random_);
    return given(shape, out);
  }
  value whole(const extents& shape, std::vector<std::int32_t> values) {
    const auto& held = whole_.emplace_back(std::move(values));
    return value(in_any({{}, reinterpret_cast<std::uint64_t>(held.data()), held.size() * sizeof(std::int32_t)},
                        dense(shape), dtype::i32));
  }

  static numbers values_of(const value& v) {
    const double nothing = 0;  // nothing is written to it
    const graph g{
        {v, out_any({{}, reinterpret_cast<std::uint64_t>(&nothing), sizeof nothing}, dense(v.extents()), dtype::f64)}};
    EXPECT_FALSE(g.refused()) << g.refused()->what << "; expected " << g.refused()->expected;
    if (g.refused()) return {};
    std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
    g.encode(reinterpret_cast<std::byte*>(encoded.data()));
    const encoded_graph encoded_view(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
    EXPECT_FALSE(encoded_view.empty());
    return encoded_view.empty() ? numbers() : evaluate(encoded_view)[encoded_view.nodes().back().outputs[0]];
  }
  static void expect_values(const value& v, const numbers& expected) {
    const numbers got = values_of(v);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i] == expected[i] ||
                  std::fabs(got[i] - expected[i]) < 1e-12 * std::max(1.0, std::fabs(expected[i])))
          << "element " << i << " is " << got[i] << ", expected " << expected[i];
  }

  // Returns an attention in which all keys have the score 0: q is 0, k is 1, and v is 1, 10, 100, ...
  attended of_equal_keys(std::int64_t queries, std::int64_t keys, attention_options o) {
    numbers v;
    for (std::int64_t j = 0; j < keys; ++j) v.push_back(std::pow(10.0, static_cast<double>(j)));
    const value q = given({1, 1, queries, 1}, numbers(static_cast<std::size_t>(queries), 0)).read(),
                k = given({1, 1, keys, 1}, numbers(static_cast<std::size_t>(keys), 1)).read();
    return attention(q, k, given({1, 1, keys, 1}, v).read(), o);
  }

  // Compares the gradients of q, k, v and, if it is given, the bias with finite differences.
  void expect_gradients(variable& q, variable& k, variable& v, variable* bias, const attention_options& options) {
    const auto with_bias = [&] {
      attention_options o = options;
      if (bias != nullptr) o.bias = bias->read();
      return o;
    };
    const auto y = [&] { return attention(q.read(), k.read(), v.read(), with_bias()); };
    const value like = y().y;
    const variable& dy = any({like.extents().begin(), like.extents().end()});
    const auto all = attention_gradient(dy.read(), y(), q.read(), k.read(), v.read(), with_bias());
    const auto loss = [&] {
      const numbers now = values_of(y().y);
      double sum = 0;
      for (std::size_t i = 0; i < now.size(); ++i) sum += now[i] * dy.values[i];
      return sum;
    };
    const auto expect = [&](const char* name, variable& x, const value& gradient) {
      const numbers got = values_of(gradient);
      ASSERT_EQ(got.size(), x.values.size());
      constexpr double step = 1e-5;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double before = x.values[i];
        x.values[i] = before + step;
        const double above = loss();
        x.values[i] = before - step;
        const double below = loss();
        x.values[i] = before;
        EXPECT_NEAR(got[i], (above - below) / (2 * step), 1e-7 * std::max(1.0, std::fabs(got[i])))
            << name << ", element " << i;
      }
    };
    expect("dq", q, all.dq);
    expect("dk", k, all.dk);
    expect("dv", v, all.dv);
    if (bias != nullptr) expect("dbias", *bias, all.dbias);
  }

 private:
  std::deque<variable> variables_;
  std::deque<std::vector<std::int32_t>> whole_;
  std::mt19937_64 random_{7};
};

TEST_F(dnn_attention, y_is_the_sum_of_values_weighted_by_the_softmax_of_scaled_products) {
  const value q = given({1, 1, 2, 2}, {1, 0, 0, 2}).read(),
              k = given({1, 1, 2, 2}, {std::log(3.0), 7, 0, 7 + std::log(2.0)}).read(),
              v = given({1, 1, 2, 3}, {4, 8, 0, 0, 0, 12}).read();
  // The scores of the first query are log(3) and 0, those of the second 14 and 14 + log(4).
  const attended a = attention(q, k, v, {.scale = 1});
  expect_values(a.y, {3, 6, 3, 0.8, 1.6, 9.6});
  expect_values(a.statistics, {std::log(4.0), 14 + std::log(5.0)});
  // The width is 4, so scores are divided by 2: they are log(3) and 0 again.
  const value wide_q = given({1, 1, 1, 4}, {2, 0, 0, 0}).read(),
              wide_k = given({1, 1, 2, 4}, {std::log(3.0), 5, 5, 5, 0, 5, 5, 5}).read(),
              narrow_v = given({1, 1, 2, 1}, {4, 0}).read();
  expect_values(attention(wide_q, wide_k, narrow_v).y, {3});
}

TEST_F(dnn_attention, neighboring_heads_share_the_heads_of_keys) {
  const value q = given({1, 4, 1, 1}, {0, 0, 0, 0}).read(), k = given({1, 2, 1, 1}, {1, 1}).read(),
              v = given({1, 2, 1, 1}, {5, 6}).read();
  expect_values(attention(q, k, v).y, {5, 5, 6, 6});
}

TEST_F(dnn_attention, a_query_attends_only_to_keys_in_its_window) {
  expect_values(of_equal_keys(3, 3, {.window = causal}).y, {1, 5.5, 37});
  expect_values(of_equal_keys(2, 4, {.window = causal}).y, {1, 5.5});
  expect_values(of_equal_keys(2, 4, {.window = causal_bottom_right}).y, {37, 1111 / 4.0});
  expect_values(of_equal_keys(3, 3, {.window = {.left = 1, .right = 0}}).y, {1, 5.5, 55});
  expect_values(of_equal_keys(3, 3, {.window = {.left = 0, .right = 1}}).y, {5.5, 55, 100});
  expect_values(of_equal_keys(2, 4, {.window = {.left = 1, .right = 0, .bottom_right = true}}).y, {55, 550});
  // The diagonals of the first queries are before the first key, so these queries attend to no key.
  const attended early = of_equal_keys(4, 2, {.window = causal_bottom_right});
  expect_values(early.y, {0, 0, 1, 5.5});
  expect_values(early.statistics, {-infinite, -infinite, 0, std::log(2.0)});
}

TEST_F(dnn_attention, scores_are_capped_before_the_bias_is_added) {
  const value q = given({1, 1, 1, 1}, {4}).read(), k = given({1, 1, 2, 1}, {1, 0}).read(),
              v = given({1, 1, 2, 1}, {8, 0}).read();
  const double capped = 2 * std::tanh(4.0 / 2);
  expect_values(attention(q, k, v, {.soft_cap = 2}).statistics, {std::log(std::exp(capped) + 1)});
  const value bias = given({1, 1, 1, 2}, {std::log(3.0) - capped, 0}).read();
  expect_values(attention(q, k, v, {.soft_cap = 2, .bias = bias}).y, {6});
  expect_values(attention(q, k, v, {.bias = given({1, 1, 1, 2}, {-infinite, 0}).read()}).y, {0});
  const attended none = attention(q, k, v, {.bias = given({1, 1, 1, 1}, {-infinite}).read()});
  expect_values(none.y, {0});
  expect_values(none.statistics, {-infinite});
}

TEST_F(dnn_attention, alibi_has_a_slope_for_each_head) {
  const auto distances = [&](std::int64_t heads, attention_window window) {
    const extents of_q{1, heads, 1, 1}, of_k{1, 1, 2, 1};
    const value q = given(of_q, numbers(static_cast<std::size_t>(heads), 0)).read(), k = given(of_k, {1, 1}).read();
    numbers out = values_of(attention(q, k, given(of_k, {0, 1}).read(), {.alibi = true, .window = window}).y);
    for (double& y : out) y = std::log(y / (1 - y));  // the score of key 1 minus that of key 0
    return out;
  };
  const auto near = [](const numbers& got, const numbers& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << "head " << i;
  };
  near(distances(4, {}), {-0x1p-2, -0x1p-4, -0x1p-6, -0x1p-8});
  near(distances(4, {.bottom_right = true}), {0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8});
  near(distances(6, {}), {-0x1p-2, -0x1p-4, -0x1p-6, -0x1p-8, -0x1p-1, -0x1p-3});
  near(distances(1, {}), {-0x1p-8});
}

TEST_F(dnn_attention, tokens_after_the_end_of_their_sequence_are_ignored) {
  const value q = given({2, 1, 2, 1}, {0, 0, 0, nan}).read(), k = given({2, 1, 2, 1}, {1, 1, 1, nan}).read(),
              v = given({2, 1, 2, 1}, {2, 4, 6, nan}).read();
  const attended a =
      attention(q, k, v, {.queries = {.lengths = whole({2}, {2, 1})}, .keys = {.lengths = whole({2}, {2, 1})}});
  expect_values(a.y, {3, 3, 6, 0});
  expect_values(a.statistics, {std::log(2.0), std::log(2.0), 0, -infinite});
  // Negative lengths count as 0, and lengths that are too large are clamped. The diagonal depends on the lengths.
  expect_values(attention(q, given({2, 1, 2, 1}, {1, 1, 1, 1}).read(), given({2, 1, 2, 1}, {2, 4, 6, 8}).read(),
                          {.window = causal_bottom_right,
                           .queries = {.lengths = whole({2}, {9, 1})},
                           .keys = {.lengths = whole({2}, {-3, 2})}})
                    .y,
                {0, 0, 7, 0});
}

TEST_F(dnn_attention, packed_queries_attend_only_to_keys_of_their_own_sequence) {
  const value q = given({1, 1, 4, 1}, {0, 0, 0, 0}).read(), k = given({1, 1, 5, 1}, {1, 1, 1, 1, 1}).read(),
              v = given({1, 1, 5, 1}, {1, 2, 4, 8, 16}).read();
  const attention_sequences queries{.offsets = whole({4}, {0, 1, 1, 3})}, keys{.offsets = whole({4}, {0, 2, 3, 5})};
  const attended a = attention(q, k, v, {.queries = queries, .keys = keys});
  expect_values(a.y, {1.5, 12, 12, 0});
  expect_values(a.statistics, {std::log(2.0), std::log(2.0), std::log(2.0), -infinite});
  expect_values(attention(q, k, v, {.window = causal, .queries = queries, .keys = keys}).y, {1, 8, 12, 0});
  // The queries are packed. The keys of each sequence are in a row of the batch.
  const value rows = given({3, 1, 2, 1}, {1, 1, 1, 1, 1, 1}).read(),
              of_rows = given({3, 1, 2, 1}, {1, 2, 3, 4, 5, 6}).read();
  expect_values(attention(q, rows, of_rows, {.queries = queries, .keys = {.lengths = whole({3}, {1, 1, 2})}}).y,
                {1, 5.5, 5.5, 0});
}

TEST_F(dnn_attention, pages_that_the_pool_does_not_have_are_ignored) {
  const value q = given({2, 1, 1, 1}, {0, 0}).read(), k = given({3, 1, 2, 1}, {1, 1, 1, 1, 1, 1}).read(),
              v = given({3, 1, 2, 1}, {1, 2, 4, 8, 16, 32}).read();
  const auto y = [&](std::vector<std::int32_t> table, std::vector<std::int32_t> lengths) {
    return attention(q, k, v,
                     {.keys = {.lengths = whole({2}, std::move(lengths))}, .pages = whole({2, 2}, std::move(table))})
        .y;
  };
  expect_values(y({2, 0, 1, 1}, {4, 3}), {51 / 4.0, 16 / 3.0});
  expect_values(y({2, 0, 1, -1}, {3, 4}), {49 / 3.0, 6});
  expect_values(y({3, -2147483647 - 1, 2147483647, 0}, {4, 4}), {0, 1.5});
  expect_values(attention(q, k, v, {.pages = whole({2, 1}, {1, 2})}).y, {6, 24});
}

TEST_F(dnn_attention, dropout_drops_the_weights_that_attention_dropping_does_not_keep) {
  const std::int64_t n = 64;
  const value q = given({2, 2, n, 1}, numbers(4 * n, 0)).read(), k = given({2, 2, n, 1}, numbers(4 * n, 1)).read(),
              v = given({2, 2, n, 1}, numbers(4 * n, 1)).read();
  const auto y = [&](std::uint32_t offset, std::optional<value> step = {}) {
    return attention(q, k, v,
                     {.dropout = attention_dropout{.probability = 0.25, .seed = 5, .offset = offset, .step = step}});
  };
  const auto dropping = attention_dropping::of(0.25, 5, 7);
  numbers expected;
  double sum = 0;
  for (std::int64_t head = 0; head < 4; ++head)
    for (std::int64_t i = 0; i < n; ++i) {
      double retained = 0;
      for (std::int64_t j = 0; j < n; ++j) retained += dropping.keeps(head, i, j) ? 1 : 0;
      expected.push_back(retained / 0.75 / static_cast<double>(n));
      sum += expected.back();
    }
  expect_values(y(7).y, expected);
  expect_values(y(3, whole({1}, {4})).y, expected);
  expect_values(y(8, whole({1}, {-1})).y, expected);
  EXPECT_NE(values_of(y(8).y), expected);
  EXPECT_NEAR(sum / (4 * n), 1, 0.02);
  expect_values(y(7).statistics, numbers(4 * n, std::log(static_cast<double>(n))));
}

TEST(dnn_philox, words_match_the_published_known_answers) {
  const auto words = [](random_words counter, std::uint64_t key) {
    const random_words r = philox(counter, key);
    return std::vector<std::uint32_t>(r.word, r.word + 4);
  };
  EXPECT_EQ(words({{0, 0, 0, 0}}, 0), (std::vector<std::uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(words({{~0u, ~0u, ~0u, ~0u}}, ~0ull),
            (std::vector<std::uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822),
            (std::vector<std::uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_F(dnn_attention, gradients_match_finite_differences) {
  variable &q = any({2, 4, 3, 5}), &k = any({2, 2, 4, 5}), &v = any({2, 2, 4, 3});
  expect_gradients(q, k, v, nullptr, {});
  expect_gradients(q, k, v, nullptr, {.scale = 0.7, .soft_cap = 0.8, .alibi = true, .window = causal_bottom_right});
  expect_gradients(q, k, v, nullptr, {.window = {.left = 1, .right = 0}});
  for (const extents& e :
       {extents{2, 4, 3, 4}, {1, 4, 3, 4}, {2, 1, 3, 4}, {1, 1, 3, 4}, {2, 1, 1, 4}, {1, 1, 3, 1}, {1, 4, 1, 1}})
    expect_gradients(q, k, v, &any(e), {.soft_cap = 1.5, .window = causal});
  expect_gradients(q, k, v, nullptr, {.dropout = attention_dropout{.probability = 0.4, .seed = 1, .offset = 2}});
  expect_gradients(q, k, v, &any({1, 4, 3, 4}),
                   {.queries = {.lengths = whole({2}, {2, 3})}, .keys = {.lengths = whole({2}, {4, 0})}});
}

TEST_F(dnn_attention, gradients_of_packed_sequences_match_finite_differences) {
  variable &q = any({1, 2, 6, 3}), &k = any({1, 1, 7, 3}), &v = any({1, 1, 7, 2});
  expect_gradients(q, k, v, nullptr,
                   {.window = causal_bottom_right,
                    .queries = {.offsets = whole({4}, {0, 2, 2, 5})},
                    .keys = {.offsets = whole({4}, {1, 4, 5, 7})},
                    .dropout = attention_dropout{.probability = 0.2, .seed = 9}});
}

TEST_F(dnn_attention, gradients_after_the_end_of_a_sequence_are_0) {
  const variable &q = any({1, 1, 3, 2}), &k = any({1, 1, 3, 2}), &v = any({1, 1, 3, 2});
  const attention_options o{.queries = {.lengths = whole({1}, {2})}, .keys = {.lengths = whole({1}, {1})}};
  const value dy = given({1, 1, 3, 2}, {1, 2, 3, 4, nan, nan}).read();
  const auto g = attention_gradient(dy, attention(q.read(), k.read(), v.read(), o), q.read(), k.read(), v.read(), o);
  expect_values(g.dq, {0, 0, 0, 0, 0, 0});
  expect_values(g.dk, {0, 0, 0, 0, 0, 0});
  expect_values(g.dv, {4, 6, 0, 0, 0, 0});
}

}  // namespace
}  // namespace troupe::dnn
