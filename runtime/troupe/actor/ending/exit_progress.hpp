// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/actor/ending/exit_reason.hpp>

namespace troupe::detail {

/// The steps in which an actor ends, in order.
enum class exit_phase : std::uint8_t { alive, refusing, terminating, stopping_children, destroying, ended };

/// The progress of an actor's end, and its reason. Only the turn's owner uses it, except for `request`, which belongs
/// to the thread that runs a handler; after a kill that is another thread.
class exit_progress {
 public:
  struct requested {
    exit_kind kind;
    std::optional<error> cause;
  };

  exit_phase phase() const noexcept { return phase_; }
  void enter(exit_phase next) noexcept { phase_ = next; }
  bool alive() const noexcept { return phase_ == exit_phase::alive; }
  const exit_reason& reason() const noexcept { return reason_; }

  /// Ends the actor after its current handler. Only the first call has an effect.
  void request(exit_kind kind, const error* cause);
  const std::optional<requested>& request() const noexcept { return request_; }

  /// Begins the end: from now on messages are refused.
  void begin(exit_reason reason) noexcept {
    phase_ = exit_phase::refusing;
    reason_ = std::move(reason);
  }
  /// Notes a kill during the end. A crash stays a crash.
  void kill() noexcept {
    if (reason_.kind != exit_kind::crashed) reason_.kind = exit_kind::killed;
  }
  /// Called before and after the `terminate` hook. If the hook fails, an end that was not abnormal becomes a crash.
  void before_terminate() noexcept { request_.reset(); }
  void after_terminate();

  /// Returns the error of a message that will not be handled.
  error unhandled() const;

 private:
  exit_phase phase_ = exit_phase::alive;
  std::optional<requested> request_;
  exit_reason reason_;
};

}  // namespace troupe::detail
