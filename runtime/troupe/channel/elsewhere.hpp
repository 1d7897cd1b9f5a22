// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace troupe {

/// Runs work on a thread of its own that may take as long as the kernel or another process wants, such as closing a
/// socket or reaping a child. Returns false, and does nothing, if no thread can be started.
bool run_elsewhere(std::function<void()> work) noexcept;

/// Waits until all such work is done and its threads have ended, or until the deadline. No thread may outlive the last
/// runtime, because the program may then unload this library.
void await_elsewhere(std::int64_t deadline_ns);

}  // namespace troupe
