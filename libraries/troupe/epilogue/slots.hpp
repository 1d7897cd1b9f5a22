// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <troupe/epilogue/op.hpp>

namespace troupe::epilogue {

/// The slot that holds the value of each node. Nodes whose values are not needed at the same time may share a slot.
struct slots {
  std::array<std::uint8_t, 256> of{};  ///< the slot of each node; a store or a reduction has the slot of its argument
  std::uint8_t count = 0;              ///< number of slots
};
/// Assigns slots to the nodes for whose operation `needs_slot` returns true; other nodes have slot 0. If
/// `keeps_numbers`, each number by value has a slot of its own, so that a kernel writes the number once.
slots slots_of(std::span<const node> nodes, bool (*needs_slot)(op), bool keeps_numbers);

}  // namespace troupe::epilogue
