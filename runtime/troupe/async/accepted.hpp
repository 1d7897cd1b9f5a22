// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/async/ref.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

/// Why a message or request was refused.
enum class refusal : std::uint8_t {
  none,
  full,        ///< the mailbox has no free place
  stopped,     ///< the receiver has ended or is stopping
  restarting,  ///< the supervised child is between two incarnations
  empty,       ///< the reference is empty
  other,       ///< `accepted` holds the error itself
};

/// The receiver that refused, which makes the error when it is read.
class refuser {
 public:
  virtual error explain(refusal why) const = 0;
  virtual void add_ref() const noexcept = 0;
  virtual void release() const noexcept = 0;

 protected:
  ~refuser() = default;
};

/// The result of `tell`, for devices and actors: true if the request or message was accepted. May be ignored: a refused
/// request leaves its outputs stale with the reason, so their readers fail with it. Two words; an actor's refusal makes
/// its error only when `error` is called.
class accepted {
 public:
  accepted() noexcept = default;
  /// Accepted, with its place in the order.
  explicit accepted(std::uint64_t ticket) noexcept : word_(ticket) {}
  accepted(class error why);
  /// Refused. `by` is null for refusal::empty.
  accepted(refusal why, const refuser* by) noexcept;

  explicit operator bool() const noexcept { return !by_; }
  /// Why it was refused. Precondition: it was refused.
  class error error() const { return by_->explain(static_cast<refusal>(word_)); }
  /// The request's place in the mailbox of its device, in ascending order. 0 if it was refused, and for messages to
  /// actors.
  std::uint64_t ticket() const noexcept { return by_ ? 0 : word_; }

 private:
  ref<const refuser> by_;
  std::uint64_t word_ = 0;  // the ticket, or the refusal
};

/// Returns the error for an empty reference to an actor.
error empty_reference();

}  // namespace troupe
