// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/async/executor.hpp>
#include <troupe/async/ref.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

class alarm_clock;

/// Counts the objects of actors, so that a thread can wait until all are destroyed.
class object_count {
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

/// The properties that an actor inherits from the stage or actor that spawns it.
struct actor_origin {
  executor* where = nullptr;       ///< executor of actors whose options name none; null: the sender's thread
  alarm_clock* clock = nullptr;    ///< the stage's clock; null: no clock
  ref<object_count> objects = {};  ///< the stage's count of objects; null: no stage waits for them
  bool closed = false;             ///< the stage is closed: actors end without an object
};

namespace detail {
/// Returns the error of an actor that was spawned on a closed stage.
error closed_stage();
}  // namespace detail

}  // namespace troupe
