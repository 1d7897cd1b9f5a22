// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/protocol/greeting.hpp>
#include <troupe/worker/process/file_rules.hpp>

namespace troupe {

/// Returns the files for a worker on the host with the confinement `standard`, and for the compilers that it uses.
file_rules standard_files(const protocol::greeting& g);

/// Returns the files for a worker with the confinement `strict`.
file_rules strict_files(const protocol::greeting& g);

}  // namespace troupe
