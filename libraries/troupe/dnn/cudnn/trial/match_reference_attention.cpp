// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/cudnn/trial/match_reference.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>

namespace troupe::dnn::cudnn {
namespace {

// A sum of products, and the sum of their absolute values: rounding the products to a half type makes errors
// proportional to it.
struct sum {
  double value = 0, magnitude = 0;
  void add(double x) { value += x, magnitude += std::fabs(x); }
};

}  // namespace

// Attention over whole sequences, with a window and a scale. Fusion matches have no other options.
struct match_reference::attention_reference {
  const match_reference& d;
  const encoded_node& n;
  const attention_attributes attributes;
  const std::size_t first;  // the index of q among the inputs
  const tensor_shape &q, &k, &v;

  attention_reference(const match_reference& of, const encoded_node& node)
      : d(of),
        n(node),
        attributes(node.attributes.as<attention_attributes>()),
        first(node.what == op::attention ? 0 : 3),
        q(of.shape(node.inputs[first])),
        k(of.shape(node.inputs[first + 1])),
        v(of.shape(node.inputs[first + 2])) {}

  double read(std::size_t input, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t c) const {
    return d.at(n.inputs[input], {b, h, i, c});
  }
  std::int64_t shared() const noexcept { return q.extents[1] / k.extents[1]; }
  bool is_visible(std::int64_t i, std::int64_t j) const noexcept {
    const std::int64_t diagonal = i + (attributes.bottom_right != 0 ? k.extents[2] - q.extents[2] : 0);
    return j >= diagonal - attributes.left && j <= diagonal + attributes.right;
  }
  double score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    double s = 0;
    for (std::int64_t c = 0; c < q.extents[3]; ++c)
      s += read(first, b, h, i, c) * read(first + 1, b, h / shared(), j, c);
    return s * attributes.scale;
  }
  // Calls `use(key, weight)` for each key that is visible to query i, and returns the query's statistics. For
  // attention, the weights sum to 1; for its gradient, they follow from the given statistics.
  template <class F>
  double for_each_weight(std::int64_t b, std::int64_t h, std::int64_t i, F&& use) const {
    std::vector<double> s(static_cast<std::size_t>(k.extents[2]), -INFINITY);
    double most = -INFINITY, all = 0;
    for (std::int64_t j = 0; j < k.extents[2]; ++j)
      if (is_visible(i, j)) most = std::fmax(most, s[static_cast<std::size_t>(j)] = score(b, h, i, j));
    for (const double x : s) all += std::exp(x - most);
    const double statistics = n.what == op::attention ? most + std::log(all) : read(2, b, h, i, 0);
    for (std::int64_t j = 0; j < k.extents[2]; ++j)
      if (const double w = std::exp(s[static_cast<std::size_t>(j)] - statistics); w != 0) use(j, w);
    return statistics;
  }

  sum output(const axis_values& at) const {
    sum y;
    for_each_weight(at[0], at[1], at[2],
                    [&](std::int64_t j, double w) { y.add(w * read(first + 2, at[0], at[1] / shared(), j, at[3])); });
    return y;
  }
  double statistics(const axis_values& at) const {
    return for_each_weight(at[0], at[1], at[2], [](std::int64_t, double) {});
  }

  // Returns the gradient of the score of query i and key j from the attention weight of the pair.
  double score_gradient(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double weight) const {
    double s = 0;
    for (std::int64_t c = 0; c < v.extents[3]; ++c)
      s += read(0, b, h, i, c) * (read(first + 2, b, h / shared(), j, c) - read(1, b, h, i, c));
    return weight * s;
  }
  sum query_gradient(const axis_values& at) const {
    sum dq;
    for_each_weight(at[0], at[1], at[2], [&](std::int64_t j, double w) {
      dq.add(attributes.scale * score_gradient(at[0], at[1], at[2], j, w) *
             read(first + 1, at[0], at[1] / shared(), j, at[3]));
    });
    return dq;
  }
  sum key_gradient(const axis_values& at, bool of_k) const {
    sum out;
    for (std::int64_t h = at[1] * shared(); h < (at[1] + 1) * shared(); ++h)
      for (std::int64_t i = 0; i < q.extents[2]; ++i) {
        if (!is_visible(i, at[2])) continue;
        const double w = std::exp(score(at[0], h, i, at[2]) - read(2, at[0], h, i, 0));
        if (of_k)
          out.add(attributes.scale * score_gradient(at[0], h, i, at[2], w) * read(first, at[0], h, i, at[3]));
        else
          out.add(w * read(0, at[0], h, i, at[3]));
      }
    return out;
  }
};

double match_reference::attention(const encoded_node& n, std::uint16_t output, const axis_values& at,
                                  double& magnitude) const {
  const attention_reference a(*this, n);
  if (n.what == op::attention && output == n.outputs[1]) return a.statistics(at);
  const sum s = n.what == op::attention  ? a.output(at)
                : output == n.outputs[0] ? a.query_gradient(at)
                                         : a.key_gradient(at, output == n.outputs[1]);
  magnitude = s.magnitude;
  return s.value;
}

std::int64_t match_reference::attention_summands(const encoded_node& n, std::uint16_t output) const {
  const attention_reference a(*this, n);
  const std::int64_t widths = a.q.extents[3] + a.v.extents[3];
  const bool of_keys = n.what == op::attention_gradient && output != n.outputs[0];
  return of_keys ? a.q.extents[2] * a.shared() * widths : a.k.extents[2] * widths;
}

}  // namespace troupe::dnn::cudnn
