// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/async/ref.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

/// Why a message was not taken.
enum class refusal : std::uint8_t {
  none,
  full,        ///< as many messages as the mailbox holds are waiting or being handled
  stopped,     ///< the actor has ended or is about to
  restarting,  ///< the supervised child is between two lives
  empty,       ///< the reference refers to nothing
};

/// Whom messages are sent to; makes the text of a refusal when somebody wants to read it.
class addressee {
 public:
  virtual error explain(refusal why) const = 0;
  virtual void add_ref() const noexcept = 0;
  virtual void release() const noexcept = 0;

 protected:
  ~addressee() = default;
};

/// The error for a reference that refers to no actor.
error empty_reference();
/// Why an actor has ended that was spawned too late.
error closed_stage();

/// What `tell` gives back: true when the message was taken. May be ignored. Cheap either way: the error is only made
/// when it is asked for.
class receipt {
 public:
  receipt() noexcept = default;
  receipt(refusal why, const addressee* whom) noexcept : whom_(ref<const addressee>::share(whom)), why_(why) {}

  explicit operator bool() const noexcept { return why_ == refusal::none; }
  refusal why() const noexcept { return why_; }
  /// `retry_later` when full or restarting, `stopped` when stopped; names the actor and the remedy. Only when refused.
  error reason() const { return whom_ ? whom_->explain(why_) : empty_reference(); }

 private:
  ref<const addressee> whom_;
  refusal why_ = refusal::none;
};

}  // namespace troupe
