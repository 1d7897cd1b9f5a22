// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/support/way.hpp>

namespace troupe::dnn::support {

// Its passes only copy what the node gives, once for each write.
bool is_only_a_view(const step_list& all, const asked& a) noexcept {
  if (a.what == op::write || a.what == op::convert) return false;
  std::size_t passes = 0;
  for (const auto& step : all.steps) {
    const auto* const p = std::get_if<elementwise_kernel>(&step);
    if (p == nullptr) continue;
    ++passes;
    using enum elementwise_kernel::operation::kind;
    if (std::any_of(p->operations.begin(), p->operations.end(),
                    [](const elementwise_kernel::operation& o) { return o.what != read && o.what != write; }))
      return false;
  }
  const auto nodes = a.graph.nodes();
  return passes <= static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(),
                                                          [](const encoded_node& n) { return n.what == op::write; }));
}

std::string in_type(std::string_view word, dtype computed, dtype elements) {
  if (computed == usual_type(elements)) return std::string(word);
  return computed == elements ? cat(word, " as stored") : cat(word, " in ", to_string(computed));
}

}  // namespace troupe::dnn::support
