// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/memory/buffer.hpp>
#include <troupe/request/operands/operand.hpp>

namespace troupe::faults {

/// Memory with which a fault is ordered: as if the fault read and wrote it, although it does not touch it. A fault can
/// thus be placed anywhere in a computation: after the request that computes `x`, and before the requests that read it.
using optional_memory = std::optional<inout<std::byte>>;

}  // namespace troupe::faults
