// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/protocol/greeting.hpp>
#include <troupe/worker/process/file_rules.hpp>

namespace troupe {

/// Returns the files of a worker on the host that is confined in the standard way, and of the compilers that it uses.
file_rules standard_files(const protocol::greeting& g);

/// Returns those of a strictly confined worker.
file_rules strict_files(const protocol::greeting& g);

}  // namespace troupe
