// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe {

/// Returns a pidfd of a child that leads its own process group, as launched children do. Otherwise returns an empty
/// descriptor, with ESRCH in errno: the child may have ended, and once other code of this program has reaped it,
/// another process may have its number.
file_descriptor open_child(pid_t pid) noexcept;

}  // namespace troupe
