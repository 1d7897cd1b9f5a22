// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/support/node_support.hpp>

namespace troupe::dnn::support {

// Returns true if elementwise kernels only copy the result of the node, once for each write.
bool is_only_a_view(const step_list& all, const node_query& query) noexcept {
  if (query.what == op::write || query.what == op::convert) return false;
  std::size_t kernels = 0;
  for (const auto& step : all.steps) {
    const auto* const kernel = std::get_if<elementwise_kernel>(&step);
    if (kernel == nullptr) continue;
    ++kernels;
    using enum elementwise_kernel::operation::kind;
    if (std::any_of(kernel->operations.begin(), kernel->operations.end(),
                    [](const elementwise_kernel::operation& o) { return o.what != read && o.what != write; }))
      return false;
  }
  const auto nodes = query.graph.nodes();
  return kernels <= static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(),
                                                           [](const encoded_node& n) { return n.what == op::write; }));
}

std::string in_type(std::string_view word, dtype computed, dtype elements) {
  if (computed == usual_type(elements)) return std::string(word);
  return computed == elements ? cat(word, " as stored") : cat(word, " in ", to_string(computed));
}

}  // namespace troupe::dnn::support
