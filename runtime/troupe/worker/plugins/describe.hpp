// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace troupe {

/// Asks the NVIDIA driver, if installed, for its GPUs, and writes a protocol::driver_description, for `troupe-worker
/// --describe-driver`. Needs no engine, and no part of CUDA when it is built. A program must leave this to a child
/// process, as with engines. Returns true if the driver reports a GPU.
bool describe_driver(std::FILE* out);

/// Loads an engine's file as a worker would, and writes a protocol::engine_description, for `troupe-worker --describe
/// FILE`. A program must leave this to a child process, because a vendor library may do anything while it is loaded.
/// Returns true if the engine serves.
bool describe_engine(const std::string& file, std::FILE* out);

}  // namespace troupe
