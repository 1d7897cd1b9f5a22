// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace troupe {

/// Asks the NVIDIA driver, if installed, for its GPUs, and writes a protocol::driver_description, for `troupe-worker
/// --describe-driver`. Needs no engine, and no part of CUDA when it is built. A program must leave this to a child
/// process, as with engines. Returns true if the driver reports a GPU.
bool describe_driver(std::FILE* out);

}  // namespace troupe
