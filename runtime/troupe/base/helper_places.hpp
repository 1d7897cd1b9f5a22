// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>
#include <span>
#include <vector>

namespace troupe {

/// Gives each thread that helps a caller a processor of its own, where caller and helpers are as many as the
/// processors.
///
/// Linux may wake a helper on the processor of the caller, or where some thread is about to sleep, though another is
/// idle. Then the helper waits there until the next tick: for 4 to 10 milliseconds, in which the work has one
/// processor. A team with fewer threads is left alone: which processors others use is not known.
///
/// Not thread-safe.
class helper_places {
 public:
  /// Moves helpers away from the processor on which the caller is now; a system call for each that must move, mostly
  /// none. `helpers` are identifiers of threads of this process (gettid), the same in each call.
  void place(std::span<const pid_t> helpers);
  /// Returns true if helpers have processors of their own.
  bool are_placed() const noexcept { return of_caller_ >= 0; }

 private:
  void begin(std::span<const pid_t> helpers, int here);

  bool is_decided_ = false;
  int of_caller_ = -1;  // -1: helpers are not placed
  std::vector<int> of_helpers_;
};

/// Returns true if all of these threads are of this process. Identifiers of ended threads are used again, by other
/// processes, too.
bool are_of_this_process(std::span<const pid_t> threads) noexcept;

/// Keeps the calling thread on the processor on which it is: a thread that waits for another one often wakes on that
/// one's. Threads that it starts meanwhile stay there, too.
class kept_in_place {
 public:
  [[nodiscard]] kept_in_place() noexcept;
  kept_in_place(const kept_in_place&) = delete;
  kept_in_place& operator=(const kept_in_place&) = delete;
  ~kept_in_place();

 private:
  cpu_set_t before_;
  bool is_kept_ = false;
};

}  // namespace troupe
