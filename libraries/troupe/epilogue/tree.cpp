// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/epilogue/tree.hpp>
#include <troupe/request/encoding/records.hpp>

namespace troupe::epilogue {
tree::tree(const std::byte* encoded, std::size_t bytes) noexcept {
  head h{};
  if (bytes < sizeof h) return;
  std::memcpy(&h, encoded, sizeof h);
  if (h.nodes > most_nodes || h.numbers > most_numbers || h.memory > most_memory ||
      encoded_bytes(h.nodes, h.numbers, h.memory) != bytes)
    return;
  *this = tree(encoded);
  if (!is_sound()) *this = {};
}

tree::tree(const std::byte* encoded) noexcept {
  head h{};
  std::memcpy(&h, encoded, sizeof h);
  const std::byte* at = encoded + sizeof h;
  nodes_ = take_records<node>(at, h.nodes);
  numbers_ = take_records<double>(at, h.numbers);
  memory_ = take_records<memory_operand>(at, h.memory);
}

bool tree::is_sound() const noexcept {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const node& n = nodes_[i];
    if (!is_known(n.what) || n.combine > reduction::absolute_maximum || n.over > reduction_scope::all) return false;
    if (n.what == op::convert && !is_known(n.type)) return false;
    if (n.what == op::number && n.operand >= numbers_.size()) return false;
    if (has_memory(n.what) && n.operand >= memory_.size()) return false;
    for (std::size_t a = 0; a < info(n.what).arguments; ++a)
      if (n.arguments[a] >= i) return false;
  }
  return std::all_of(memory_.begin(), memory_.end(), [](const memory_operand& m) { return is_known(m.type); });
}

}  // namespace troupe::epilogue
