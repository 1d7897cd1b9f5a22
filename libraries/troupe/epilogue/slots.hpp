// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <troupe/epilogue/op.hpp>

namespace troupe::epilogue {

/// The assignment of nodes to slots, which hold their values. Nodes with disjoint lifetimes may share a slot.
struct slots {
  std::array<std::uint8_t, 256> of{};  ///< the slot of each node; a store or a reduction has that of its argument
  std::uint8_t count = 0;
};
/// Assigns slots to the nodes for which `needs_one(operation)` is true; the others have 0. If `keeps_numbers`, each
/// number by value has its own slot, so that it is written once.
slots slots_of(std::span<const node> nodes, bool (*needs_one)(op), bool keeps_numbers);

}  // namespace troupe::epilogue
