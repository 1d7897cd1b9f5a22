// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace troupe {

/// Asks the NVIDIA driver, if installed, which GPUs it shows, and writes a protocol::driver_description, for
/// `troupe-worker --describe-driver`. Needs no engine, and nothing of CUDA to be built. A program must leave this to a
/// child process, as with engines. Returns true if the driver shows a GPU.
bool describe_driver(std::FILE* out);

}  // namespace troupe
