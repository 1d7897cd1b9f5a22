// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <vector>

namespace troupe::dnn::host {

template <class N>
void top_k(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<selection_attributes>();
  const lines_along lines = lines_of(step.inputs[0].shape, a.axis);
  const std::int64_t count = step.outputs[0].shape.extents[static_cast<std::size_t>(a.axis)];
  const N* const x = on.elements<N>(step.inputs[0]);
  N *const values = on.elements<N>(step.outputs[0]), *const indexes = on.elements<N>(step.outputs[1]);
  constexpr std::int64_t part_size = 1 << 14;
  on.team.spread(
      lines.outer * lines.inner, std::max<std::int64_t>(1, part_size / lines.extent), [&](std::int64_t line) {
        const std::int64_t outer = line / lines.inner, inner = line % lines.inner;
        const auto at = [&](std::int64_t i) { return x[(outer * lines.extent + i) * lines.inner + inner]; };
        std::vector<std::int32_t> order(static_cast<std::size_t>(lines.extent));
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](std::int32_t i, std::int32_t k) {
          const N p = a.smallest != 0 ? at(k) : at(i), q = a.smallest != 0 ? at(i) : at(k);
          const bool is_p_nan = std::isnan(p), is_q_nan = std::isnan(q);
          if (is_p_nan != is_q_nan) return is_p_nan;
          return p == q || is_p_nan ? i < k : p > q;
        });
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int32_t from = order[static_cast<std::size_t>(i)];
          const std::int64_t to = (outer * count + i) * lines.inner + inner;
          values[to] = at(from), indexes[to] = static_cast<N>(from);
        }
      });
}

TROUPE_HOST_STEP(top_k);

}  // namespace troupe::dnn::host
