// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <troupe/channel/process/process.hpp>

/// Starts programs for a process that may start none itself. The launcher is a child that the process forks before it
/// confines itself. It has none of the process's descriptors and memory, takes no descriptors from it, and ends with
/// it, so that nothing that it starts can reach memory that the process maps later.
namespace troupe {

/// Forks the launcher of this process, which must still be single-threaded. The child calls `confine` first. Other code
/// in this process finds the launcher through an environment variable.
result<void> fork_launcher(const std::function<void()>& confine);

/// Returns the process ID of this process's launcher, which is the parent of the programs that it starts; 0 if there is
/// none.
int launcher_pid();

/// A program that the launcher has started.
struct launcher_job {
  file_descriptor messages;  ///< for reading what the program writes to standard output and standard error
  file_descriptor end;       ///< a socket: `stop` and `wait` use it

  /// Sends SIGTERM to the program.
  void stop() const noexcept;
  /// Returns the program's final state, or `running` at the deadline. Fails if the launcher has ended.
  result<exit_status> wait(std::int64_t deadline_ns) const;
};

/// Starts a program. Uses only `path`, `args` and `environment` of the options. Thread-safe.
result<launcher_job> launch_by_launcher(const launch_options& options);

}  // namespace troupe
