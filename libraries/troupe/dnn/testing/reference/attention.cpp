// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/attention/dropping.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr tensor_index nowhere{-1};

// The tokens of a sequence: `count` tokens from `first` on, in row `row` of the batch.
struct tokens {
  std::int64_t row, first, count;
};

class attention_node {
 public:
  attention_node(const attention_attributes& a, bool gradient, std::span<const input_values> in)
      : f_(a), at_(a, gradient), in_(in), q(in[at_.q]), k(in[at_.k]), v(in[at_.v]) {
    batch_ = a.queries == sequence_layout::offsets ? in[at_.queries].shape.extents[0] - 1 : q.shape.extents[0];
    const double step = a.has_step ? in[at_.step].numbers[0] : 0;
    dropping_ = attention_dropping::of(a.dropout, a.seed,
                                       a.offset + static_cast<std::uint64_t>(static_cast<std::int64_t>(step)));
  }

  // Calls `f(b, h, tokens of the queries, tokens of the keys)` for each head of each sequence.
  template <class F>
  void for_each_head(F&& f) const {
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t h = 0; h < q.shape.extents[1]; ++h) f(b, h, queries(b), keys(b));
  }

  tensor_index query(const tokens& t, std::int64_t h, std::int64_t i) const noexcept { return {t.row, h, t.first + i}; }
  // Returns the index of key j of a sequence in k; `nowhere` if the key's page is not in the pool.
  tensor_index key(const tokens& t, std::int64_t h, std::int64_t j) const noexcept {
    const std::int64_t head = h / (q.shape.extents[1] / k.shape.extents[1]);
    if (f_.has_pages == 0) return {t.row, head, t.first + j};
    const std::int64_t of_a_page = k.shape.extents[2];
    const double page = in_[at_.pages][{t.row, j / of_a_page}];
    if (!(page >= 0 && page < static_cast<double>(k.shape.extents[0]))) return nowhere;
    return {static_cast<std::int64_t>(page), head, j % of_a_page};
  }

  // Returns the score of a query and a key; -infinity if the query does not attend to the key. Sets `gradient` to the
  // derivative of the score with respect to the product of q and k.
  double score(std::int64_t b, std::int64_t h, const tokens& queries, std::int64_t i, const tokens& keys,
               std::int64_t j, double& gradient) const {
    const double diagonal = static_cast<double>(i + (f_.bottom_right ? keys.count - queries.count : 0)),
                 from_it = static_cast<double>(j) - diagonal;
    gradient = f_.scale;
    const bool is_before = f_.left != attention_attributes::unlimited && from_it < -static_cast<double>(f_.left),
               is_after = f_.right != attention_attributes::unlimited && from_it > static_cast<double>(f_.right);
    const tensor_index at = key(keys, h, j);
    if (is_before || is_after || at == nowhere) return -infinite;
    double s = f_.scale * dot(q, query(queries, h, i), k, at);
    if (f_.soft_cap != 0) {
      const double t = std::tanh(s / f_.soft_cap);
      s = f_.soft_cap * t, gradient *= 1 - t * t;
    }
    if (f_.has_bias) s += in_[at_.bias][{b, h, i, j}];
    if (f_.has_alibi) s -= alibi_slope(h) * std::fabs(from_it);
    return s;
  }

  // Returns the factor by which dropout multiplies an attention weight.
  double dropout_factor(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept {
    if (f_.dropout == 0) return 1;
    return dropping_.keeps(b * q.shape.extents[1] + h, i, j) ? 1 / (1 - f_.dropout) : 0;
  }

  template <class A, class B>
  static double dot(const A& a, tensor_index x, const B& b, tensor_index y) {
    double sum = 0;
    for (std::int64_t c = 0; c < a.shape.extents[3]; ++c) x[3] = y[3] = c, sum += a[x] * b[y];
    return sum;
  }
  // to += factor * from
  template <class From>
  static void add(const output_values& to, tensor_index x, double factor, const From& from, tensor_index y) {
    for (std::int64_t c = 0; c < to.shape.extents[3]; ++c) x[3] = y[3] = c, to[x] += factor * from[y];
  }

 private:
  tokens queries(std::int64_t b) const { return tokens_of(f_.queries, at_.queries, b, q.shape.extents[2]); }
  tokens keys(std::int64_t b) const {
    const std::int64_t pages = f_.has_pages ? in_[at_.pages].shape.extents[1] : 1;
    return tokens_of(f_.keys, at_.keys, b, pages * k.shape.extents[2]);
  }
  tokens tokens_of(sequence_layout layout, std::size_t input, std::int64_t b, std::int64_t most) const {
    const auto number = [&](std::int64_t i) {
      return std::clamp(static_cast<std::int64_t>(in_[input].numbers[static_cast<std::size_t>(i)]), std::int64_t{0},
                        most);
    };
    if (layout == sequence_layout::whole) return {b, 0, most};
    if (layout == sequence_layout::lengths) return {b, 0, number(b)};
    return {0, number(b), std::max(number(b + 1) - number(b), std::int64_t{0})};
  }
  double alibi_slope(std::int64_t h) const {
    std::int64_t power = 1;
    while (2 * power <= q.shape.extents[1]) power *= 2;
    const double n = static_cast<double>(power);
    return h < power ? std::exp2(-8.0 * static_cast<double>(h + 1) / n)
                     : std::exp2(-8.0 * static_cast<double>(2 * (h - power) + 1) / (2 * n));
  }

  const attention_attributes& f_;
  attention_inputs at_;
  std::span<const input_values> in_;
  std::int64_t batch_;
  attention_dropping dropping_{};

 public:
  const input_values q, k, v;
};

}  // namespace

void attend(const attention_attributes& a, inputs in, outputs out) {
  const attention_node node(a, false, in);
  const output_values y = out[0], statistics = out[1];
  std::fill(statistics.numbers.begin(), statistics.numbers.end(), -infinite);
  node.for_each_head([&](std::int64_t b, std::int64_t h, const tokens& queries, const tokens& keys) {
    for (std::int64_t i = 0; i < queries.count; ++i) {
      std::vector<double> scores;
      double largest = -infinite, sum = 0, gradient = 0;
      for (std::int64_t j = 0; j < keys.count; ++j) {
        scores.push_back(node.score(b, h, queries, i, keys, j, gradient));
        if (!(scores.back() <= largest)) largest = scores.back();
      }
      if (largest == -infinite) continue;
      for (const double s : scores) sum += std::exp(s - largest);
      const tensor_index to = node.query(queries, h, i);
      statistics[to] = largest + std::log(sum);
      for (std::int64_t j = 0; j < keys.count; ++j) {
        const double s = scores[static_cast<std::size_t>(j)];
        if (s == -infinite) continue;
        node.add(y, to, std::exp(s - largest) / sum * node.dropout_factor(b, h, i, j), node.v, node.key(keys, h, j));
      }
    }
  });
}

void find_attention_gradient(const attention_gradient_attributes& a, inputs in, outputs out) {
  const attention_node node(a, true, in);
  const attention_inputs places(a, true);
  const input_values dy = in[places.dy], y = in[places.y], statistics = in[places.statistics];
  const output_values dq = out[0], dk = out[1], dv = out[2];
  node.for_each_head([&](std::int64_t b, std::int64_t h, const tokens& queries, const tokens& keys) {
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const tensor_index query = node.query(queries, h, i);
      const double statistic = statistics[query];
      if (statistic == -infinite) continue;
      const double mean = node.dot(dy, query, y, query);
      for (std::int64_t j = 0; j < keys.count; ++j) {
        double gradient = 0;
        const double s = node.score(b, h, queries, i, keys, j, gradient);
        if (s == -infinite) continue;
        const tensor_index key = node.key(keys, h, j);
        const double weight = std::exp(s - statistic), factor = node.dropout_factor(b, h, i, j);
        const double ds = weight * (factor * node.dot(dy, query, node.v, key) - mean);
        node.add(dv, key, weight * factor, dy, query);
        node.add(dq, query, ds * gradient, node.k, key);
        node.add(dk, key, ds * gradient, node.q, query);
        if (a.has_bias) out[3][{b, h, i, j}] += ds;
      }
    }
  });
}

}  // namespace troupe::dnn::detail
