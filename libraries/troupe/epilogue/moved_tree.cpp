// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/epilogue/moved_tree.hpp>
#include <troupe/request/records.hpp>

namespace troupe::epilogue {

moved_tree::moved_tree(const tree& from, std::span<const tree_memory> memory) {
  const tree::head h{static_cast<std::uint32_t>(from.nodes().size()), static_cast<std::uint32_t>(from.numbers().size()),
                     static_cast<std::uint32_t>(memory.size()), 0};
  encoded_.resize(tree::encoded_bytes(h.nodes, h.numbers, h.memory));
  std::byte* to = encoded_.data();
  put_records(to, std::span(&h, 1));
  put_records(to, from.nodes());
  put_records(to, from.numbers());
  put_records(to, memory);
  tree_ = tree(encoded_.data(), encoded_.size());
}

}  // namespace troupe::epilogue
