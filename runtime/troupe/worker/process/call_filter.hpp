// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>

/// Filters of system calls ("seccomp"), which the kernel applies to a process and its children. A forbidden call fails
/// with EPERM; a call of another processor's interface ends the process.
namespace troupe {

/// Returns true if this system, processor and build can filter calls.
bool can_filter_calls() noexcept;

enum class call_filter {
  driver,    ///< for a worker with a GPU: no access to other processes, their limits, mounts, keys or modules
  launcher,  ///< for the process that starts compilers, and for the compilers: also no sockets but pairs
  worker,    ///< for a worker on the host: also no new processes, programs and sockets, and no signals to others
  strict,    ///< only what a worker on the host needs
};

/// Applies a filter to all threads of this process.
result<void> filter_calls(call_filter which);

}  // namespace troupe
