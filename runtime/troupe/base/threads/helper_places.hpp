// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>
#include <span>
#include <vector>

namespace troupe {

/// Pins each helper of a calling thread to a processor of its own, none of them the caller's. Does so only if there are
/// as many processors as threads, the caller included.
///
/// Without this, Linux may wake a helper on the caller's processor, or on one whose thread is about to sleep, though
/// another is idle. The helper then waits until the next timer tick: for 4 to 10 ms only one processor works. With
/// fewer threads than processors nothing is pinned: other programs' use of the processors is not known.
///
/// Not thread-safe.
class helper_places {
 public:
  /// Moves the helper off the processor that the caller runs on, with a system call only if a helper must move.
  /// `helpers` are thread identifiers of this process (gettid), the same in each call.
  void place(std::span<const pid_t> helpers);
  /// Returns true if the helpers are pinned.
  bool are_placed() const noexcept { return of_caller_ >= 0; }

 private:
  void begin(std::span<const pid_t> helpers, int here);

  bool is_decided_ = false;
  int of_caller_ = -1;  // -1: the helpers are not pinned
  std::vector<int> of_helpers_;
};

/// Returns true if all of these threads belong to this process. The identifier of a thread that has ended may be used
/// again, also by another process.
bool are_of_this_process(std::span<const pid_t> threads) noexcept;

/// Pins the calling thread to the processor it runs on: a thread that waits for another one often wakes on the other
/// one's processor. Threads that it starts while this object lives are pinned there, too.
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
