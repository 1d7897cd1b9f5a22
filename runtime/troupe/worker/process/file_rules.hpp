// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/result.hpp>
#include <vector>

/// Landlock: rules of the kernel that a process sets for itself and its children, without any privilege.
namespace troupe {

/// Returns the version of Landlock's interface in this system's kernel; 0: it has none, or this process may not use it.
int landlock_version() noexcept;

/// From these on, Landlock also confines signals and abstract sockets, and TCP.
inline constexpr int landlock_with_scopes = 6, landlock_with_tcp = 4;

/// Paths that do not exist are left out. A folder stands for all that is in it.
struct file_rules {
  std::vector<std::string> readable;  ///< may be read and executed
  std::vector<std::string> writable;  ///< anything may be done in these but making devices, sockets and pipes
  std::vector<int> opened = {};       ///< descriptors of files that may be read and executed, wherever they are now
};

/// Forbids this thread, and what it starts later, all files but these, TCP, and to send signals, connect abstract
/// sockets or attach to processes that do not have these rules: as far as this version of Landlock can.
result<void> confine_files(const file_rules& rules);

/// Forbids only signals, and to attach, to processes that do not have this rule.
result<void> confine_signals();

}  // namespace troupe
