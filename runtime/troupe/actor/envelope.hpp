// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <troupe/base/error.hpp>

namespace troupe {

class actor_core;

namespace detail {

/// What has become of a message that was delivered.
enum class handled : std::uint8_t {
  ended,      ///< the handler is done and the message destroyed
  suspended,  ///< the handler is a task that waits: `actor_core::go_on` is called when it ends; touch nothing
  lost,       ///< the actor was killed meanwhile: touch nothing
};

/// One message on its way to an actor.
class envelope {
 public:
  envelope() noexcept = default;
  envelope(const envelope&) = delete;
  envelope& operator=(const envelope&) = delete;
  virtual ~envelope() = default;

  /// Runs the handler. Ends with `actor_core::handler_ended` and, if that is true, `release_message`.
  virtual handled deliver(actor_core& to) noexcept = 0;
  /// The message will not be handled: answers the caller.
  virtual void refuse(const error&) noexcept {}
  /// The handler runs but its answer is not awaited any more. Called by another thread than the handler's.
  virtual void abandon(const error&) noexcept {}
};

/// What could not be built.
class empty_envelope final : public envelope {
 public:
  handled deliver(actor_core& to) noexcept override;
};

/// A message that is too large for its cell.
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
