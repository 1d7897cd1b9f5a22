// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::cutlass {

/// Returns the encoding of an epilogue of these parts, as `epilogue::tree` reads it.
std::vector<std::byte> encoded_tree(std::span<const epilogue::node> nodes, std::span<const double> numbers,
                                    std::span<const epilogue::tree_memory> memory);

/// Returns the first node that uses this memory.
const epilogue::node& node_of_memory(const epilogue::tree& t, std::size_t memory) noexcept;

}  // namespace troupe::cutlass
