// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Returns true if the system promises no more memory than it has, according to `file`
/// (/proc/sys/vm/overcommit_memory). The first access to a page of a memory file can then fail, which the kernel
/// reports by SIGBUS.
bool is_overcommitting_off(const char* file) noexcept;

/// Allocates all pages of a memory file, so that no access fails. Returns 0, or the error's code.
int reserve_pages(int fd, std::size_t bytes) noexcept;

}  // namespace troupe
