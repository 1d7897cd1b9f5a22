// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/core/actor_core.hpp>

// The end of an actor: the orders that cause it, and its steps.
namespace troupe {

using detail::exit_phase;

void actor_core::stop(exit_kind kind) noexcept {
  mailbox_.close();
  if (orders_.stop(kind == exit_kind::shutdown)) wake();
}

void actor_core::kill() noexcept {
  mailbox_.close();
  switch (orders_.kill()) {
    case detail::kill_outcome::nothing:
      return;
    case detail::kill_outcome::ordered:
      return wake();
    case detail::kill_outcome::handler_abandoned:
      break;
  }
  // This thread owns the turn now, with its reference. The message stays in its cell until the handler has ended.
  if (exit_.alive()) begin_exit(exit_kind::killed);
  current_.abandon(exit_.unhandled(), mailbox_);
  if (orders_.killer_done()) post(*executor_, [this] { destroy_abandoned(); });
  take_turn();
}

void actor_core::destroy_abandoned() noexcept {
  current_.destroy_abandoned();
  destroy_object();
  const ref<object_count> objects = origin_.objects;
  release();
  if (objects) objects->leave();
}

void actor_core::begin_exit(exit_kind kind, std::optional<error> cause) noexcept {
  mailbox_.close();
  exit_.begin({.kind = kind, .actor = name_, .id = id_, .cause = std::move(cause)});
}

actor_core::step_outcome actor_core::exit_step() noexcept {
  system_.clear();
  if (seen_orders_.kill()) exit_.kill();
  switch (exit_.phase()) {
    case exit_phase::alive:
    case exit_phase::refusing:
      if (mailbox_.front()) mailbox_.refuse_all(exit_.unhandled());
      if (!mailbox_.drained()) return step_outcome::nothing;  // a sender has claimed a cell and is still writing
      exit_.enter(exit_phase::terminating);
      return step_outcome::progress;
    case exit_phase::terminating:
      exit_.enter(exit_phase::stopping_children);
      return terminate();
    case exit_phase::stopping_children:
      if (!children_.stop_all(*this, exit_.reason().kind == exit_kind::killed || seen_orders_.kill()))
        return step_outcome::nothing;
      exit_.enter(exit_phase::destroying);
      return step_outcome::progress;
    case exit_phase::destroying:
    case exit_phase::ended:
      report_end();
      return step_outcome::gone;
  }
  return step_outcome::gone;
}

/// Calls the `terminate` hook, if the class has one and the actor was not killed.
actor_core::step_outcome actor_core::terminate() noexcept {
  if (!has_object_ || exit_.reason().kind == exit_kind::killed) return step_outcome::progress;
  exit_.before_terminate();
  auto call = make_terminate_call(exit_.reason());
  if (!call) return step_outcome::progress;
  current_.own(std::move(call));
  return run_handler();
}

void actor_core::report_end() noexcept {
  exit_.enter(exit_phase::ended);
  const bool abandoned = orders_.handler_abandoned();
  if (!abandoned) {
    exit_.after_terminate();
    if (has_object_) destroy_object();
  }
  system_.close();
  watchers_.end(exit_.reason(), orders_);

  const ref<object_count> objects = abandoned ? ref<object_count>() : origin_.objects;
  if (!abandoned) release();  // the reference of the object
  release();                  // the reference of the turn, which no thread takes any more
  if (objects) objects->leave();
}

}  // namespace troupe
