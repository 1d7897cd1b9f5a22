// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/epilogue/slots.hpp>
#include <vector>

namespace troupe::epilogue {

slots slots_of(std::span<const node> nodes, bool (*needs_slot)(op), bool keeps_numbers) {
  std::vector<std::size_t> last_use(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    last_use[i] = i;
    for (std::size_t a = 0; a < info(nodes[i].what).arguments; ++a) last_use[nodes[i].arguments[a]] = i;
  }
  if (!nodes.empty()) last_use.back() = nodes.size();
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (keeps_numbers && nodes[i].what == op::number) last_use[i] = nodes.size();
    // A store or a reduction shares the slot of its argument, so the slot is in use as long as either value is needed.
    if (passes_on(nodes[i].what))
      last_use[nodes[i].arguments[0]] = std::max(last_use[nodes[i].arguments[0]], last_use[i]);
  }
  const auto has_slot = [&](std::size_t i) { return needs_slot(nodes[i].what) && !passes_on(nodes[i].what); };
  slots out;
  std::vector<std::uint8_t> free;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (has_slot(i)) {
      if (free.empty() || (keeps_numbers && nodes[i].what == op::number)) free.push_back(out.count++);
      out.of[i] = free.back();
      free.pop_back();
    } else if (passes_on(nodes[i].what)) {
      out.of[i] = out.of[nodes[i].arguments[0]];
    }
    for (std::size_t k = 0; k < i; ++k)
      if (last_use[k] == i && has_slot(k)) free.push_back(out.of[k]);
  }
  return out;
}

}  // namespace troupe::epilogue
