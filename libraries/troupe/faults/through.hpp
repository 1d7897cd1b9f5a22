// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/memory/buffer.hpp>
#include <troupe/request/operand.hpp>

namespace troupe::faults {

/// The memory that a fault passes through: it is ordered as if it read and wrote that memory, which it leaves alone. So
/// a fault can be placed anywhere in a computation: after the request that computes `x` and before those that read it.
using optional_memory = std::optional<inout<std::byte>>;

}  // namespace troupe::faults
