// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

namespace troupe {

/// Asks the NVIDIA driver, if there is one, which GPUs it shows, and writes a protocol::driver_description:
/// `troupe-worker --describe-driver`. It needs no engine and nothing of CUDA while it is built; a program has a child
/// process do it, as with engines. True when it shows a GPU.
bool describe_driver(std::FILE* out);

}  // namespace troupe
