// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <array>
#include <vector>

/// Finds the threads that a library such as OpenBLAS starts when it is loaded, and that help its callers. Libraries do
/// not report these threads, but Linux numbers threads in order: a helper's number lies between those of a thread that
/// was started before the library was loaded, and one that was started after.
///
/// /proc/self/task lists threads, too, but must not be read: each entry read stays in the kernel's cache of directories
/// until its thread ends. If the process is killed, its last thread and the parent, which waits for its end, remove the
/// entries at the same time; one of them may then occupy a processor until the other has been given one, for seconds if
/// the processors are busy.
namespace troupe {

/// Notes as helpers the threads that this process starts while this object lives, and gives those that the calling
/// thread starts a name. Threads that other threads start meanwhile are noted as well.
class notes_helpers {
 public:
  [[nodiscard]] notes_helpers() noexcept;
  notes_helpers(const notes_helpers&) = delete;
  notes_helpers& operator=(const notes_helpers&) = delete;
  ~notes_helpers();

 private:
  pid_t before_;
  std::array<char, 16> name_before_{};
};

/// Returns the threads of this process that are noted as helpers.
std::vector<pid_t> library_helpers();

/// Moves helpers off the processor that the calling thread runs on: see helper_places. Does nothing unless the process
/// has exactly `count` helpers. Takes a system call if a helper must move, otherwise some nanoseconds. Thread-safe.
void keep_helpers_away(std::size_t count) noexcept;

}  // namespace troupe
