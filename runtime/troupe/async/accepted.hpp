// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/async/ref.hpp>
#include <troupe/base/error.hpp>

namespace troupe {

/// Why something was not taken.
enum class refusal : std::uint8_t {
  none,
  full,        ///< as many messages as the mailbox holds are waiting or being handled
  stopped,     ///< the receiver has ended or is about to
  restarting,  ///< the supervised child is between two lives
  empty,       ///< the reference refers to nothing
  other,       ///< an error of its own says why
};

/// Who refuses, and makes the error when somebody wants to read it.
class refuser {
 public:
  virtual error explain(refusal why) const = 0;
  virtual void add_ref() const noexcept = 0;
  virtual void release() const noexcept = 0;

 protected:
  ~refuser() = default;
};

/// What `tell` returns, of a device and of an actor: true when the request or message was taken. May be ignored: a
/// refused request leaves its outputs stale with the reason, so their readers learn it. Two words; where an actor
/// refuses, the error is only made when it is asked for.
class accepted {
 public:
  accepted() noexcept = default;
  /// Taken, with its place in the order.
  explicit accepted(std::uint64_t ticket) noexcept : word_(ticket) {}
  accepted(class error why);
  /// Refused. `by` is null where there is nobody: see refusal::empty.
  accepted(refusal why, const refuser* by) noexcept;

  explicit operator bool() const noexcept { return !by_; }
  /// Why it was refused. Only then.
  class error error() const { return by_->explain(static_cast<refusal>(word_)); }
  /// A request's place in the mailbox of its device: grows. 0 when it was refused, and of messages to actors.
  std::uint64_t ticket() const noexcept { return by_ ? 0 : word_; }

 private:
  ref<const refuser> by_;
  std::uint64_t word_ = 0;  // the ticket, or the refusal
};

/// The error for a reference that refers to no actor.
error empty_reference();

}  // namespace troupe
