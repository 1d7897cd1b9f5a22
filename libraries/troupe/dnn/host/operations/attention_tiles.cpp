// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/host/operations/attention_tiles.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>

namespace troupe::dnn::host {
namespace {

template <class N>
const N* input(const execution_context& on, const operator_step& s, std::size_t (*which)(const attention_inputs&)) {
  const std::size_t at = which({s.attributes.as<attention_attributes>(), s.what == op::attention_gradient});
  return on.elements<N>(s.input(at));
}

}  // namespace

template <class N>
attention_tiles<N>::attention_tiles(const execution_context& on, const operator_step& s)
    : g(geometry_of(s, [&](const location& l) { return on.at(l); })),
      q(input<N>(on, s, [](const attention_inputs& i) { return i.q; })),
      k(input<N>(on, s, [](const attention_inputs& i) { return i.k; })),
      v(input<N>(on, s, [](const attention_inputs& i) { return i.v; })),
      bias(input<N>(on, s, [](const attention_inputs& i) { return i.bias; })),
      dropping_(g.dropping()) {
  for (std::int64_t h = 0; h < g.heads; ++h) alibi_slopes_.push_back(static_cast<N>(g.alibi_slope(h)));
}

template <class N>
std::vector<query_tile> attention_tiles<N>::queries() const {
  std::vector<query_tile> out;
  const std::int64_t heads = std::min(g.shared, most_rows), count = most_rows / heads;
  for (std::int64_t b = 0; b < g.batch; ++b) {
    const token_range queries = g.queries_of(b), keys = g.keys_of(b);
    for (std::int64_t h = 0; keys.count > 0 && h < g.heads; h += g.shared)
      for (std::int64_t shared = 0; shared < g.shared; shared += heads)
        for (std::int64_t i = 0; i < queries.count; i += count)
          out.push_back({.sequence = b,
                         .key_head = h / g.shared,
                         .first_head = h + shared,
                         .heads = std::min(heads, g.shared - shared),
                         .first = i,
                         .count = std::min(count, queries.count - i),
                         .queries = queries,
                         .keys = keys});
  }
  return out;
}

template <class N>
key_range attention_tiles<N>::visible_keys(const query_tile& t) const noexcept {
  return {g.visible_keys(t.first, t.queries.count, t.keys.count).first,
          g.visible_keys(t.first + t.count - 1, t.queries.count, t.keys.count).last};
}

template <class N>
void attention_tiles<N>::gather(const query_tile& t, const N* from, std::int64_t width, N factor, N* to) const {
  for (std::int64_t r = 0; r < t.rows(); ++r)
    scale(to + r * width, from + g.query_row(t.queries, t.head(r), t.query(r)) * width, factor, width);
}

template <class N>
key_tile<N> attention_tiles<N>::keys(const token_range& of, std::int64_t key_head, std::int64_t first,
                                     std::int64_t count, N* copied) const {
  if (g.pool == 0) {
    const std::int64_t row = g.key_row(of, key_head, first);
    return {first, count, k + row * g.width, v + row * g.value_width};
  }
  key_tile<N> out{first, count, copied, copied + most_rows * g.width};
  for (std::int64_t j = 0; j < count; ++j) {
    N *const to_k = copied + j * g.width, *const to_v = copied + most_rows * g.width + j * g.value_width;
    const std::int64_t row = g.key_row(of, key_head, first + j);
    if (row < 0) {
      out.missing |= std::uint64_t{1} << j;
      std::fill_n(to_k, g.width, N(0)), std::fill_n(to_v, g.value_width, N(0));
    } else {
      std::copy_n(k + row * g.width, g.width, to_k);
      std::copy_n(v + row * g.value_width, g.value_width, to_v);
    }
  }
  return out;
}

template <class N>
void attention_tiles<N>::score(const query_tile& t, const N* rows, const key_tile<N>& keys, N* scores,
                               N* derivatives) const {
  constexpr N masked_score = -std::numeric_limits<N>::infinity();
  const std::int64_t n = keys.count;
  if (t.rows() <= small_tile_rows)
    score_small_tile(rows, t.rows(), keys.k, n, g.width, scores);
  else
    multiply_tile<N>(false, rows, t.rows(), g.width, true, keys.k, n, scores, n, false);
  for (std::int64_t r = 0; r < t.rows(); ++r) {
    N* const s = scores + r * n;
    const std::int64_t i = t.query(r), h = t.head(r);
    if (g.soft_cap != 0) cap_scores(s, derivatives + r * n, n, static_cast<N>(g.soft_cap));
    if (bias != nullptr) add_bias(s, bias + g.bias_at(t.sequence, h, i, keys.first), g.bias_strides[3], n);
    if (g.has_alibi != 0)
      add_alibi(s, alibi_slopes_[static_cast<std::size_t>(h)],
                keys.first - g.diagonal(i, t.queries.count, t.keys.count), n);
    const key_range visible = g.visible_keys(i, t.queries.count, t.keys.count);
    const std::int64_t first = std::clamp(visible.first - keys.first, std::int64_t{0}, n),
                       last = std::clamp(visible.last - keys.first, first, n);
    std::fill(s, s + first, masked_score), std::fill(s + last, s + n, masked_score);
    for (std::uint64_t left = keys.missing; left != 0; left &= left - 1) s[__builtin_ctzll(left)] = masked_score;
  }
}

template <class N>
void attention_tiles<N>::find_dropout_factors(const query_tile& t, const key_tile<N>& keys, N* factors) const {
  for (std::int64_t r = 0; r < t.rows(); ++r)
    host::find_dropout_factors(dropping_, t.sequence * g.heads + t.head(r), t.query(r), keys.first, keys.count,
                               static_cast<N>(1 / (1 - g.dropout)), factors + r * keys.count);
}

template class attention_tiles<float>;
template class attention_tiles<double>;

}  // namespace troupe::dnn::host
