// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Scores are computed twice: tiles of queries iterate over their keys for dq and dbias, and tiles of keys iterate over
// their queries for dk and dv. Thus each sum has a fixed order, and no two threads add to the same element.
#include <map>
#include <troupe/dnn/host/operations/attention_tiles.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <tuple>

namespace troupe::dnn::host {
namespace {

template <class N>
struct gradient_tensors {
  const N *dy, *y, *statistics;
  N *dq, *dk, *dv, *dbias;
};

// A tile of queries, with its inputs and intermediate results.
template <class N>
class gradient_tile {
 public:
  explicit gradient_tile(const attention_tiles<N>& a)
      : a_(a),
        q(make_scratch<N>(most_rows, a.g.width)),
        dy(make_scratch<N>(most_rows, a.g.value_width)),
        weights(make_scratch<N>(most_rows, most_rows)),
        ds(make_scratch<N>(most_rows, most_rows)),
        dropout_factors_(make_scratch<N>(most_rows, most_rows)),
        cap_derivatives_(make_scratch<N>(most_rows, most_rows)) {}

  void take(const query_tile& t, const gradient_tensors<N>& all) {
    tile_ = &t;
    const attention_geometry& g = a_.g;
    a_.gather(t, a_.q, g.width, static_cast<N>(g.scale), q.get());
    a_.gather(t, all.dy, g.value_width, N(1), dy.get());
    for (std::int64_t r = 0; r < t.rows(); ++r) {
      const std::int64_t row = g.query_row(t.queries, t.head(r), t.query(r));
      statistics_[r] = all.statistics[row];
      means_[r] = static_cast<N>(dot(all.dy + row * g.value_width, all.y + row * g.value_width, g.value_width));
      if (statistics_[r] != -std::numeric_limits<N>::infinity()) continue;
      // The query attends to no key, so its gradients are 0, whatever q and dy hold.
      means_[r] = 0;
      std::fill_n(q.get() + r * g.width, g.width, N(0));
      std::fill_n(dy.get() + r * g.value_width, g.value_width, N(0));
    }
  }

  // Computes the weights after dropout and, if `needs_ds`, `ds`: the gradients of the scaled products of q and k. Calls
  // `use_gradient(row, ds of the row)` with the gradients of the scores, before it multiplies them by the derivative of
  // the soft cap.
  template <class UseGradient>
  void compute(const key_tile<N>& keys, bool needs_ds, UseGradient&& use_gradient) {
    const query_tile& t = *tile_;
    const std::int64_t rows = t.rows(), n = keys.count;
    a_.score(t, q.get(), keys, weights.get(), cap_derivatives_.get());
    for (std::int64_t r = 0; r < rows; ++r) {
      if (statistics_[r] == -std::numeric_limits<N>::infinity())
        std::fill_n(weights.get() + r * n, n, N(0));
      else
        weigh_finally(weights.get() + r * n, n, statistics_[r]);
    }
    const bool drops = a_.g.dropout != 0;
    if (drops) a_.find_dropout_factors(t, keys, dropout_factors_.get());
    if (needs_ds) {
      multiply_tile<N>(false, dy.get(), rows, a_.g.value_width, true, keys.v, n, ds.get(), n, false);
      for (std::int64_t r = 0; r < rows; ++r) {
        N* const row = ds.get() + r * n;
        score_gradients(row, weights.get() + r * n, drops ? dropout_factors_.get() + r * n : nullptr, means_[r], n);
        use_gradient(r, static_cast<const N*>(row));
        if (a_.g.soft_cap != 0) multiply_each(row, cap_derivatives_.get() + r * n, n);
      }
    }
    if (drops) multiply_each(weights.get(), dropout_factors_.get(), rows * n);
  }

 private:
  static void multiply_each(N* to, const N* by, std::int64_t n) noexcept {
    for (std::int64_t i = 0; i < n; ++i) to[i] *= by[i];
  }
  const attention_tiles<N>& a_;
  const query_tile* tile_ = nullptr;
  N statistics_[most_rows], means_[most_rows];

 public:
  const scratch_array<N> q, dy, weights, ds;

 private:
  const scratch_array<N> dropout_factors_, cap_derivatives_;
};

// Returns the tiles in groups; tiles of different groups add to different elements of dbias. Without dbias, each tile
// is a group.
template <class N>
std::vector<std::vector<query_tile>> groups_of(const attention_tiles<N>& a) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<query_tile>> all;
  const bool has_bias = a.bias != nullptr;
  const auto* const extents = a.g.bias_extents;
  for (const query_tile& t : a.queries())
    all[{has_bias && extents[0] == 1 ? 0 : t.sequence, has_bias && extents[1] == 1 ? 0 : t.first_head,
         has_bias && extents[2] == 1 ? 0 : t.first}]
        .push_back(t);
  std::vector<std::vector<query_tile>> out;
  for (auto& [key, tiles] : all) out.push_back(std::move(tiles));
  return out;
}

template <class N>
void find_query_gradients(const attention_tiles<N>& a, const execution_context& on, const gradient_tensors<N>& all) {
  const attention_geometry& g = a.g;
  const auto groups = groups_of(a);
  on.team.spread(static_cast<std::int64_t>(groups.size()), 1, [&](std::int64_t group) {
    gradient_tile<N> rows(a);
    const auto dq = make_scratch<N>(most_rows, g.width);
    for (const query_tile& t : groups[static_cast<std::size_t>(group)]) {
      rows.take(t, all);
      std::fill_n(dq.get(), t.rows() * g.width, N(0));
      const key_range visible = a.visible_keys(t);
      for (std::int64_t first = visible.first; first < visible.last; first += most_rows) {
        const auto keys = a.keys(t.keys, t.key_head, first, std::min(most_rows, visible.last - first), nullptr);
        rows.compute(keys, true, [&](std::int64_t r, const N* ds) {
          if (all.dbias == nullptr) return;
          N* const to = all.dbias + g.bias_at(t.sequence, t.head(r), t.query(r), first);
          for (std::int64_t j = 0; j < keys.count; ++j) to[j * g.bias_strides[3]] += ds[j];
        });
        multiply_tile<N>(false, rows.ds.get(), t.rows(), keys.count, false, keys.k, g.width, dq.get(), g.width, true);
      }
      for (std::int64_t r = 0; r < t.rows(); ++r)
        scale(a.row_of(t, r, all.dq, g.width), dq.get() + r * g.width, static_cast<N>(g.scale), g.width);
    }
  });
}

template <class N>
void find_key_gradients(const attention_tiles<N>& a, const execution_context& on, const gradient_tensors<N>& all) {
  const attention_geometry& g = a.g;
  // The tiles of queries of one sequence and one head of keys are neighbors in the list.
  const std::vector<query_tile> tiles = a.queries();
  struct unit {
    std::size_t begin, end;
    std::int64_t first, count;
  };
  std::vector<unit> units;
  for (std::size_t begin = 0, end; begin < tiles.size(); begin = end) {
    for (end = begin; end < tiles.size() && tiles[end].sequence == tiles[begin].sequence &&
                      tiles[end].key_head == tiles[begin].key_head;)
      ++end;
    for (std::int64_t first = 0; first < tiles[begin].keys.count; first += most_rows)
      units.push_back({begin, end, first, std::min(most_rows, tiles[begin].keys.count - first)});
  }
  on.team.spread(static_cast<std::int64_t>(units.size()), 1, [&](std::int64_t i) {
    const unit& u = units[static_cast<std::size_t>(i)];
    const query_tile& any = tiles[u.begin];
    const auto keys = a.keys(any.keys, any.key_head, u.first, u.count, nullptr);
    const std::int64_t row = g.key_row(any.keys, any.key_head, u.first);
    N *const dk = all.dk + row * g.width, *const dv = all.dv + row * g.value_width;
    std::fill_n(dk, u.count * g.width, N(0)), std::fill_n(dv, u.count * g.value_width, N(0));
    gradient_tile<N> rows(a);
    for (std::size_t k = u.begin; k < u.end; ++k) {
      const query_tile& t = tiles[k];
      const key_range visible = a.visible_keys(t);
      if (visible.last <= u.first || visible.first >= u.first + u.count) continue;
      rows.take(t, all);
      rows.compute(keys, true, [](std::int64_t, const N*) {});
      multiply_tile<N>(true, rows.weights.get(), u.count, t.rows(), false, rows.dy.get(), g.value_width, dv,
                       g.value_width, true);
      multiply_tile<N>(true, rows.ds.get(), u.count, t.rows(), false, rows.q.get(), g.width, dk, g.width, true);
    }
  });
}

}  // namespace

template <class N>
void attention_gradient(const execution_context& on, const operator_step& s) {
  const attention_tiles<N> a(on, s);
  const attention_inputs at(s.attributes.as<attention_gradient_attributes>(), true);
  const gradient_tensors<N> all{on.elements<N>(s.inputs[at.dy]),
                                on.elements<N>(s.inputs[at.y]),
                                on.elements<N>(s.inputs[at.statistics]),
                                on.elements<N>(s.outputs[0]),
                                on.elements<N>(s.outputs[1]),
                                on.elements<N>(s.outputs[2]),
                                s.outputs.size() > 3 ? on.elements<N>(s.outputs[3]) : nullptr};
  // Tokens after the end of their sequence belong to no tile, and dbias is accumulated: set both to 0.
  const auto clear = [&](std::size_t output) {
    std::fill_n(on.elements<N>(s.outputs[output]), elements_of(s.outputs[output].shape), N(0));
  };
  if (a.g.query_layout != sequence_layout::whole || a.g.key_layout != sequence_layout::whole)
    clear(0), clear(1), clear(2);
  if (all.dbias != nullptr) clear(3);
  find_query_gradients<N>(a, on, all);
  find_key_gradients<N>(a, on, all);
}

TROUPE_HOST_STEP(attention_gradient);

}  // namespace troupe::dnn::host
