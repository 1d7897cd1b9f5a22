// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <array>
#include <vector>

/// Threads that a library starts when it is loaded, as OpenBLAS does, and that help its callers. A library does not say
/// which they are, so they get a name: new threads have that of the thread that starts them.
namespace troupe {

/// Gives the threads that the calling thread starts meanwhile the name of helpers.
class names_helpers {
 public:
  [[nodiscard]] names_helpers() noexcept;
  names_helpers(const names_helpers&) = delete;
  names_helpers& operator=(const names_helpers&) = delete;
  ~names_helpers();

 private:
  std::array<char, 16> before_{};
};

/// Returns the threads of this process that have the name of helpers.
std::vector<pid_t> library_helpers();

/// Moves helpers away from the processor on which the calling thread is, if there are `count` of them: see
/// helper_places. A system call if one must move, otherwise some nanoseconds. Thread-safe.
void keep_helpers_away(std::size_t count) noexcept;

}  // namespace troupe
