// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>

namespace troupe::dnn::host {

template <class N>
void cumulative_sum(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<cumulative_attributes>();
  const lines_along lines = lines_of(step.inputs[0].shape, a.axis);
  const N* const x = on.elements<N>(step.inputs[0]);
  N* const y = on.elements<N>(step.outputs[0]);
  // Each task has some neighboring lines.
  constexpr std::int64_t together = 64;
  const std::int64_t tasks_of_outer = (lines.inner + together - 1) / together;
  on.team.spread(lines.outer * tasks_of_outer, 1, [&](std::int64_t task) {
    const std::int64_t first = task % tasks_of_outer * together, count = std::min(together, lines.inner - first);
    const std::int64_t begin = task / tasks_of_outer * lines.extent * lines.inner + first;
    double sums[together] = {};
    for (std::int64_t i = 0; i < lines.extent; ++i) {
      const std::int64_t at = begin + (a.reversed != 0 ? lines.extent - 1 - i : i) * lines.inner;
      for (std::int64_t k = 0; k < count; ++k) {
        const double before = sums[k];
        sums[k] += x[at + k];
        y[at + k] = static_cast<N>(a.exclusive != 0 ? before : sums[k]);
      }
    }
  });
}

TROUPE_HOST_STEP(cumulative_sum);

}  // namespace troupe::dnn::host
