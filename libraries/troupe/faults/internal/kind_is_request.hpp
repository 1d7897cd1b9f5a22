// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/faults/kinds.hpp>

namespace troupe::faults {

/// Returns true if a fault of this kind is a request to the worker, and false if it is a signal to a process.
bool is_request(kind k) noexcept;

}  // namespace troupe::faults
