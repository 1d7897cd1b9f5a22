// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Returns true if the system promises no more memory than it has, as the file (/proc/sys/vm/overcommit_memory) says.
/// The first access to a page of a memory file can then fail, and the kernel reports that by SIGBUS.
bool is_overcommitting_off(const char* file) noexcept;

/// Takes all pages of a memory file from the system, so that no access fails. Returns 0, or the error's code.
int reserve_pages(int fd, std::size_t bytes) noexcept;

}  // namespace troupe
