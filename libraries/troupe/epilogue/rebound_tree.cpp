// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/epilogue/rebound_tree.hpp>
#include <troupe/request/encoding/records.hpp>

namespace troupe::epilogue {

std::vector<std::byte> encode_tree(std::span<const node> nodes, std::span<const double> numbers,
                                   std::span<const memory_operand> memory) {
  const tree::head h{static_cast<std::uint32_t>(nodes.size()), static_cast<std::uint32_t>(numbers.size()),
                     static_cast<std::uint32_t>(memory.size()), 0};
  std::vector<std::byte> out(tree::encoded_bytes(h.nodes, h.numbers, h.memory));
  std::byte* to = out.data();
  put_records(to, std::span(&h, 1));
  put_records(to, nodes);
  put_records(to, numbers);
  put_records(to, memory);
  return out;
}

}  // namespace troupe::epilogue
