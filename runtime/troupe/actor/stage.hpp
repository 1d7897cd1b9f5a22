// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/actor_context.hpp>
#include <troupe/base/time_span.hpp>

namespace troupe {

/// How to make a stage.
struct stage_options {
  int threads = 0;               ///< of the stage's own pool; 0: one per usable core
  executor_ref on = {};          ///< use this executor, which outlives the stage, instead of a pool
  alarm_clock* clock = nullptr;  ///< use this clock, which outlives the stage, instead of the system's
  time_span close_timeout = time_span::for_ever();  ///< how long `close` waits for each actor before it kills it
};

/// Where actors live: owns threads, a clock and the actors spawned on it. They live until they stop or the stage
/// closes, whether anybody refers to them or not.
class stage {
 public:
  explicit stage(stage_options options = {});
  /// Closes. Never from an actor of this stage, which cannot wait for itself.
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// See the free `spawn`. On a closed stage nothing is built: the reference is to an actor that has ended.
  template <class A, class... Args>
  actor_ref<A> spawn(actor_options options, Args&&... args) {
    auto actor = spawner().spawn<A>(std::move(options), std::forward<Args>(args)...);
    own(actor.handle());
    return actor;
  }
  /// For actors that somebody else keeps and stops. The stage still waits for their objects to be gone. One that was
  /// taken from a closed stage builds nothing.
  troupe::spawner spawner() const;

  executor& where() const noexcept;
  alarm_clock& clock() const noexcept;

  /// Stops the actors, last spawned first, each before the next, and waits until they and all their children are gone.
  void close() noexcept;

 private:
  void own(const actor_handle& actor);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
