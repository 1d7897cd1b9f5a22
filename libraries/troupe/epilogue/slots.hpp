// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <troupe/epilogue/op.hpp>

namespace troupe::epilogue {

/// Where the nodes of an epilogue keep their values: a slot may serve several nodes, one after the other.
struct slots {
  std::array<std::uint8_t, 256>
      of{};  ///< the slot of each node; of one that passes its argument on, that of the argument
  std::uint8_t count = 0;
};
/// Assigns slots to the nodes for which `needs_one(operation)`; the others have 0. If `keeps_numbers`, a number by
/// value has a slot of its own, so that it is written once.
slots slots_of(std::span<const node> nodes, bool (*needs_one)(op), bool keeps_numbers);

}  // namespace troupe::epilogue
