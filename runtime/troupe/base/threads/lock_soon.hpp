// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/base/clock.hpp>

namespace troupe {

/// Locks a mutex that threads hold for some tens of nanoseconds only. Tries for a while before it sleeps: a sleep and a
/// wake take a hundred times as long.
inline std::unique_lock<std::mutex> lock_soon(std::mutex& m) {
  constexpr int looks = 50;
  std::unique_lock guard(m, std::try_to_lock);
  for (int i = 0; !guard && i < looks; ++i) {
    spin_hint();
    (void)guard.try_lock();
  }
  if (!guard) guard.lock();
  return guard;
}

}  // namespace troupe
