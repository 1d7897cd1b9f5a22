// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/result.hpp>
#include <vector>

/// Sets rules of Landlock: a process sets them for itself and its children, without any privilege.
namespace troupe {

/// Returns the version of the Landlock interface in this system's kernel; 0 if there is none, or if this process may
/// not use it.
int landlock_version() noexcept;

/// The versions of Landlock from which on it also confines signals and abstract sockets, and TCP.
inline constexpr int landlock_with_scopes = 6, landlock_with_tcp = 4;

/// Paths that do not exist are skipped. A folder stands for everything in it.
struct file_rules {
  std::vector<std::string> readable;  ///< may be read and executed
  std::vector<std::string> writable;  ///< all operations are allowed but the creation of devices, sockets and pipes
  std::vector<int> opened = {};       ///< descriptors of files that may be read and executed, wherever they are now
};

/// Forbids this thread, and everything that it starts later, to use other files or TCP, to send signals to, connect
/// abstract sockets to or attach to processes without these rules, as far as this version of Landlock can.
result<void> confine_files(const file_rules& rules);

/// Forbids only signals to, and attaching to, processes without this rule.
result<void> confine_signals();

}  // namespace troupe
