// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/async/executor.hpp>
#include <troupe/async/ref.hpp>

namespace troupe {

class alarm_clock;

/// Counts objects, so that somebody can wait until there are none.
class body_count {
 public:
  void enter() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept;
  void wait_for_none() const noexcept;

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> refs_{1};
};

/// What an actor inherits from the place it was spawned at.
struct actor_origin {
  executor* where = nullptr;     ///< for actors that name none; null: the thread that sends
  alarm_clock* clock = nullptr;  ///< null: none
  ref<body_count> bodies = {};   ///< null: nobody waits for this actor's object to be gone
  bool closed = false;           ///< too late: the actor has ended before it is built
};

}  // namespace troupe
