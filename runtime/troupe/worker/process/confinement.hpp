// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/protocol/greeting.hpp>

namespace troupe {

/// Takes from this process all that a worker does not need, so that a broken kernel or a hole in a vendor library does
/// less harm: new privileges, core dumps, memory beyond its limit, other cores.
result<void> confine(const protocol::worker_settings& s);

}  // namespace troupe
