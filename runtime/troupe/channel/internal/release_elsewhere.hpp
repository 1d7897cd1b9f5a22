// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe {

/// Calls `release(fd)` on a thread of its own, because the kernel may need as long as another process wants. Returns
/// false, and does nothing, if no thread can be started. See await_released in control_socket.hpp.
bool release_elsewhere(int fd, void (*release)(int) noexcept) noexcept;

}  // namespace troupe
