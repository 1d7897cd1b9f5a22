// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <troupe/base/error.hpp>

namespace troupe {

class actor_core;

namespace detail {

/// The outcome of the delivery of a message.
enum class handled : std::uint8_t {
  ended,      ///< the handler has ended, and the message is destroyed
  suspended,  ///< the handler is a task that waits; it calls `actor_core::take_turn` when it ends: touch nothing
  lost,       ///< the actor was killed in the meantime: touch nothing
};

/// A message to an actor, with its handler's call.
class envelope {
 public:
  envelope() noexcept = default;
  envelope(const envelope&) = delete;
  envelope& operator=(const envelope&) = delete;
  virtual ~envelope() = default;

  /// Runs the handler. Calls `actor_core::handler_ended` at the end and, if that returns true, `release_message`.
  virtual handled deliver(actor_core& to) noexcept = 0;
  /// Answers the caller with the error: the message will not be handled.
  virtual void refuse(const error&) noexcept {}
  /// Answers the caller with the error while the handler still runs, because the actor was killed. Called by the
  /// killing thread.
  virtual void abandon(const error&) noexcept {}
};

/// Stands in for a message whose construction threw.
class empty_envelope final : public envelope {
 public:
  handled deliver(actor_core& to) noexcept override;
};

/// Refers to a message that is too large for a cell.
class boxed_envelope final : public envelope {
 public:
  explicit boxed_envelope(std::unique_ptr<envelope> large) noexcept : large_(std::move(large)) {}
  handled deliver(actor_core& to) noexcept override { return large_->deliver(to); }
  void refuse(const error& why) noexcept override { large_->refuse(why); }
  void abandon(const error& why) noexcept override { large_->abandon(why); }

 private:
  std::unique_ptr<envelope> large_;
};

}  // namespace detail
}  // namespace troupe
