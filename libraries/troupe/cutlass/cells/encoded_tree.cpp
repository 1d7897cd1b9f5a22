// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/cutlass/cells/encoded_tree.hpp>

namespace troupe::cutlass {

std::vector<std::byte> encoded_tree(std::span<const epilogue::node> nodes, std::span<const double> numbers,
                                    std::span<const epilogue::tree_memory> memory) {
  const epilogue::tree::head h{static_cast<std::uint32_t>(nodes.size()), static_cast<std::uint32_t>(numbers.size()),
                               static_cast<std::uint32_t>(memory.size()), 0};
  std::vector<std::byte> out(epilogue::tree::encoded_bytes(h.nodes, h.numbers, h.memory));
  std::byte* to = out.data();
  const auto put = [&to](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&h, sizeof h);
  put(nodes.data(), nodes.size_bytes());
  put(numbers.data(), numbers.size_bytes());
  put(memory.data(), memory.size_bytes());
  return out;
}

const epilogue::node& node_of_memory(const epilogue::tree& t, std::size_t memory) noexcept {
  const auto all = t.nodes();
  const auto found = std::find_if(all.begin(), all.end(), [&](const epilogue::node& n) {
    return epilogue::has_memory(n.what) && n.operand == memory;
  });
  return found == all.end() ? all.front() : *found;
}

}  // namespace troupe::cutlass
