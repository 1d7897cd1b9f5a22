// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace troupe {

/// Loads an engine file as a worker would, and writes what it is, as protocol::engine_description says: `troupe-worker
/// --describe FILE`. A program that wants to know has it done by a child process, because a vendor library may do
/// anything while it loads. True when the engine serves.
bool describe_engine(const std::string& file, std::FILE* out);

}  // namespace troupe
