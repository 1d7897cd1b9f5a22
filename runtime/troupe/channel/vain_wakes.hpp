// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace troupe {

/// Limits what a thread spends on being woken in vain: a worker may wake those that wait for it without end. Each
/// waiting thread has its own.
class vain_wakes {
 public:
  /// Counts a wake. Pauses if many in a row were in vain. Nothing wakes the thread from the pause, which is short for
  /// that reason.
  void count(bool in_vain) noexcept {
    constexpr std::chrono::microseconds pause{200};
    in_a_row_ = in_vain ? in_a_row_ + 1 : 0;
    if (are_many()) std::this_thread::sleep_for(pause);
  }
  /// Returns true if there were many in a row. Then spinning before a sleep would not pay either.
  bool are_many() const noexcept { return in_a_row_ > free; }

 private:
  static constexpr int free = 16;  // a worker also wakes threads for the answers of others
  int in_a_row_ = 0;
};

}  // namespace troupe
