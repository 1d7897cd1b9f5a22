// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/actor_context.hpp>
#include <troupe/base/time_span.hpp>

namespace troupe {

/// Options of a stage.
struct stage_options {
  int threads = 0;                                  ///< threads of the stage's own pool; 0: one for each usable core
  executor_ref on = {};                             ///< executor to use instead of a pool; must outlive the stage
  alarm_clock* clock = nullptr;                     ///< clock to use instead of the system's; must outlive the stage
  time_span close_timeout = time_span::for_ever();  ///< time that `close` waits for an actor before it kills it
};

/// Owns threads, a clock, and the actors spawned on it. An actor lives until it stops or the stage closes, even if
/// nothing else refers to it.
class stage {
 public:
  explicit stage(stage_options options = {});
  /// Closes the stage. Must not run in an actor of this stage: it would wait for itself.
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// Spawns an actor: see the free function `spawn`. On a closed stage no object is constructed, and the actor ends at
  /// once.
  template <class A, class... Args>
  actor_ref<A> spawn(actor_options options, Args&&... args) {
    auto actor = spawner().spawn<A>(std::move(options), std::forward<Args>(args)...);
    own(actor.handle());
    return actor;
  }
  /// Returns a spawner of actors that others own and stop. The stage still waits until their objects are destroyed. On
  /// a closed stage it constructs no objects.
  troupe::spawner spawner() const;

  executor& where() const noexcept;
  alarm_clock& clock() const noexcept;

  /// Stops the actors one after the other, last spawned first, and waits until they and all their children are
  /// destroyed.
  void close() noexcept;

 private:
  void own(const actor_handle& actor);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
