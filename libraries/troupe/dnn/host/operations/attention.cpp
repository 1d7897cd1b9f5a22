// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Each tile of queries iterates over its keys tile by tile, with an online softmax. If there are few tiles of queries,
// as in decoding, several threads share the keys of each tile, and their results are combined.
#include <cmath>
#include <troupe/dnn/host/operations/attention_tiles.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>

namespace troupe::dnn::host {
namespace {

// The result of attending to a part of the keys, for the rows of a tile: y before the division by the sum of the
// weights.
template <class N>
struct partial {
  explicit partial(const attention_tiles<N>& a, const query_tile& t)
      : y(make_scratch<N>(t.rows(), a.g.value_width)),
        softmax(static_cast<std::size_t>(t.rows()), {-std::numeric_limits<double>::infinity(), 0}) {
    std::fill_n(y.get(), t.rows() * a.g.value_width, N(0));
  }
  scratch_array<N> y;
  std::vector<running_softmax> softmax;
};

template <class N>
void attend_to_keys(const attention_tiles<N>& a, const query_tile& t, key_range range, partial<N>& to) {
  const attention_geometry& g = a.g;
  const std::int64_t rows = t.rows();
  const auto q = make_scratch<N>(rows, g.width), s = make_scratch<N>(rows, most_rows),
             more = make_scratch<N>(rows, most_rows),
             copied = make_scratch<N>(g.pool != 0 ? most_rows : 0, g.width + g.value_width);
  a.gather(t, a.q, g.width, static_cast<N>(g.scale), q.get());
  for (std::int64_t first = range.first; first < range.last; first += most_rows) {
    const auto keys = a.keys(t.keys, t.key_head, first, std::min(most_rows, range.last - first), copied.get());
    a.score(t, q.get(), keys, s.get(), more.get());
    for (std::int64_t r = 0; r < rows; ++r) {
      const N factor = weigh(s.get() + r * keys.count, keys.count, to.softmax[static_cast<std::size_t>(r)]);
      N* const y = to.y.get() + r * g.value_width;
      if (factor != 1) scale(y, y, factor, g.value_width);
    }
    if (g.dropout != 0) {
      a.find_dropout_factors(t, keys, more.get());
      for (std::int64_t i = 0; i < rows * keys.count; ++i)
        s[static_cast<std::size_t>(i)] *= more[static_cast<std::size_t>(i)];
    }
    multiply_tile<N>(false, s.get(), rows, keys.count, false, keys.v, g.value_width, to.y.get(), g.value_width, true);
  }
}

// Combines the results for the parts of the keys of a tile, and writes y and the statistics.
template <class N>
void finish(const attention_tiles<N>& a, const query_tile& t, std::span<partial<N>> parts, N* y, N* statistics) {
  const std::int64_t width = a.g.value_width;
  for (std::int64_t r = 0; r < t.rows(); ++r) {
    const auto row = static_cast<std::size_t>(r);
    N* const to = a.row_of(t, r, y, width);
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const partial<N>& p : parts) largest = std::max(largest, p.softmax[row].largest);
    const auto factor = [&](const partial<N>& p) {
      return p.softmax[row].largest == largest ? 1 : std::exp(p.softmax[row].largest - largest);
    };
    for (const partial<N>& p : parts) sum += factor(p) * p.softmax[row].sum;
    std::fill_n(to, width, N(0));
    if (sum != 0)
      for (const partial<N>& p : parts) add_scaled(to, p.y.get() + r * width, static_cast<N>(factor(p) / sum), width);
    *a.row_of(t, r, statistics, 1) = static_cast<N>(sum == 0 ? largest : largest + std::log(sum));
  }
}

// Returns the number of parts into which the keys of each tile are divided. It must not depend on the number of
// threads, so that results do not.
std::int64_t parts_of(std::int64_t tiles, std::int64_t keys) noexcept {
  constexpr std::int64_t enough_tiles = 64, least_keys = 512;
  return std::clamp<std::int64_t>(std::min(enough_tiles / std::max<std::int64_t>(tiles, 1), keys / least_keys), 1, 64);
}

}  // namespace

template <class N>
void attend(const execution_context& on, const operator_step& s) {
  const attention_tiles<N> a(on, s);
  N *const y = on.elements<N>(s.outputs[0]), *const statistics = on.elements<N>(s.outputs[1]);
  // Tokens after the end of their sequence, and queries of sequences without keys, belong to no tile.
  if (a.g.query_layout != sequence_layout::whole || a.g.key_layout != sequence_layout::whole) {
    std::fill_n(y, elements_of(s.outputs[0].shape), N(0));
    std::fill_n(statistics, elements_of(s.outputs[1].shape), -std::numeric_limits<N>::infinity());
  }
  const std::vector<query_tile> tiles = a.queries();
  const auto count = static_cast<std::int64_t>(tiles.size());
  std::int64_t longest = 0;
  for (const query_tile& t : tiles) longest = std::max(longest, a.visible_keys(t).last - a.visible_keys(t).first);
  const std::int64_t parts = parts_of(count, longest);
  std::vector<std::vector<partial<N>>> all(tiles.size());
  const auto take = [&](std::int64_t tile, std::int64_t part) {
    const query_tile& t = tiles[static_cast<std::size_t>(tile)];
    const key_range visible = a.visible_keys(t);
    const std::int64_t part_size =
                           ((visible.last - visible.first + parts - 1) / parts + most_rows - 1) / most_rows * most_rows,
                       first = visible.first + part * part_size;
    attend_to_keys<N>(a, t, {first, std::min(visible.last, first + part_size)},
                      all[static_cast<std::size_t>(tile)][static_cast<std::size_t>(part)]);
  };
  const auto begin = [&](std::int64_t tile) {
    for (std::int64_t p = 0; p < parts; ++p)
      all[static_cast<std::size_t>(tile)].emplace_back(a, tiles[static_cast<std::size_t>(tile)]);
  };
  const auto end = [&](std::int64_t tile) {
    auto& of_tile = all[static_cast<std::size_t>(tile)];
    finish<N>(a, tiles[static_cast<std::size_t>(tile)], of_tile, y, statistics);
    std::vector<partial<N>>().swap(of_tile);
  };
  if (parts == 1) return on.team.spread(count, 1, [&](std::int64_t tile) { begin(tile), take(tile, 0), end(tile); });
  for (std::int64_t tile = 0; tile < count; ++tile) begin(tile);
  on.team.spread(count * parts, 1, [&](std::int64_t i) { take(i / parts, i % parts); });
  on.team.spread(count, 1, end);
}

TROUPE_HOST_STEP(attend);

}  // namespace troupe::dnn::host
