// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <troupe/base/file_descriptor.hpp>

namespace troupe {

/// Returns a pidfd of a child that leads its own process group, as launched ones do. Returns none, with ESRCH in errno,
/// if that process is none: the child may have ended, and once other code of this program has reaped it, another
/// process may get its number.
file_descriptor open_child(pid_t pid) noexcept;

}  // namespace troupe
