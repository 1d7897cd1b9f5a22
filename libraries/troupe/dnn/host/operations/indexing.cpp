// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>

namespace troupe::dnn::host {

namespace {

template <class N, class Index>
void scatter_by(const Index* index, const execution_context& on, const operator_step& step) {
  const location &parts = step.inputs[0], &indexes = step.inputs[1], &y = step.outputs[0];
  const parts_along along(step.attributes.as<gather_attributes>(), y.shape, indexes.shape);
  const N* const from = on.elements<N>(parts);
  N* const to = on.elements<N>(y);
  // Each task adds some columns of all parts, in their order.
  constexpr std::int64_t together = 64;
  const std::int64_t tasks_of_outer = (along.inner + together - 1) / together;
  on.team.spread(along.outer * tasks_of_outer, 1, [&](std::int64_t task) {
    const std::int64_t outer = task / tasks_of_outer, first = task % tasks_of_outer * together,
                       columns = std::min(together, along.inner - first);
    const auto line = [&](N* of, std::int64_t n) { return of + n * along.inner + first; };
    N* const all = to + outer * along.extent * along.inner;
    for (std::int64_t i = 0; i < along.extent; ++i) std::fill_n(line(all, i), columns, N(0));
    for (std::int64_t k = 0; k < along.count; ++k) {
      if (index[k] < 0 || index[k] >= along.extent) continue;
      const N* const part = from + (outer * along.count + k) * along.inner + first;
      N* const sum = line(all, index[k]);
      for (std::int64_t i = 0; i < columns; ++i) sum[i] += part[i];
    }
  });
}

}  // namespace

template <class N>
void scatter_add(const execution_context& on, const operator_step& step) {
  const location& indexes = step.inputs[1];
  if (indexes.type == dtype::i64)
    scatter_by<N>(on.elements<std::int64_t>(indexes), on, step);
  else
    scatter_by<N>(on.elements<std::int32_t>(indexes), on, step);
}

TROUPE_HOST_STEP(scatter_add);

}  // namespace troupe::dnn::host
