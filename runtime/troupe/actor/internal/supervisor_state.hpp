// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/base/restart_intensity.hpp>

namespace troupe {

namespace detail {

/// A child with the state that its supervisor keeps about it.
struct supervised_child {
  explicit supervised_child(child_spec s) : spec(std::move(s)) {}

  child_spec spec;
  std::shared_ptr<child_handle> handle = nullptr;  // null: the child is not running
  std::uint64_t life = 0;                          // number of the expected child_ended or try_again; 0: none
  std::uint64_t restarts = 0;
  std::optional<exit_reason> last_exit = std::nullopt;
};

}  // namespace detail

/// The children of a supervisor, and how they are started, stopped and restarted. Only one task of the supervisor runs
/// at a time, so a child that was found before a wait is still the same after it.
struct supervisor::state {
  using child = detail::supervised_child;

  state(actor_context<supervisor>& s, const supervisor_options& o)
      : self(s), options(o), clock(*o.clock), intensity(o.restarts, o.restart_window), from(s.spawner()) {}

  static error misuse(std::string text);

  child* find(std::string_view id) const noexcept;
  /// Returns the child with this id, or an error if there is none.
  result<child*> need(std::string_view id) const;
  /// Adds a child that is not running. Fails if its id is taken or if it has no start function.
  result<child*> add(child_spec spec);
  void forget(child* gone);

  /// Starts a child; answered when it is ready. If the start fails, the child is not running.
  task<result<void>> start(child* c);
  /// Stops a child; answered when it has ended.
  task<void> stop(child* c);
  task<void> stop_all();
  /// Restarts the children that the end of `failed` concerns. If a start fails, it is tried again on a message, so that
  /// commands are handled in between.
  task<void> restart(child* failed, std::optional<error> why);

  actor_context<supervisor>& self;
  const supervisor_options options;
  alarm_clock& clock;
  restart_intensity intensity;
  const spawner from;
  std::vector<std::unique_ptr<child>> children;  // in the order in which they are started
  std::uint64_t lives = 0;

 private:
  result<std::shared_ptr<child_handle>> make(child& c) noexcept;
  std::vector<child_state> states() const;
  task<child*> carry_out(restart_plan plan, std::optional<error>& why);
  void give_up(const child& last, const std::optional<error>& why);
};

}  // namespace troupe
