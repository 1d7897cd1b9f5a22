// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <array>
#include <vector>

/// Finds the threads that a library such as OpenBLAS starts when it is loaded, and that help its callers. Libraries do
/// not report these threads, so they are marked by a name: a new thread inherits the name of the thread that starts it.
namespace troupe {

/// Marks as helpers the threads that the calling thread starts while this object lives.
class names_helpers {
 public:
  [[nodiscard]] names_helpers() noexcept;
  names_helpers(const names_helpers&) = delete;
  names_helpers& operator=(const names_helpers&) = delete;
  ~names_helpers();

 private:
  std::array<char, 16> before_{};
};

/// Returns the threads of this process that are marked as helpers.
std::vector<pid_t> library_helpers();

/// Moves helpers off the processor that the calling thread runs on: see helper_places. Does nothing unless the process
/// has exactly `count` helpers. Takes a system call if a helper must move, otherwise some nanoseconds. Thread-safe.
void keep_helpers_away(std::size_t count) noexcept;

}  // namespace troupe
