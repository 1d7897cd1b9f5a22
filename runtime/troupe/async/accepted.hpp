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
  restarting,  ///< the supervised child has ended and its replacement has not started
  empty,       ///< the reference is empty
  other,       ///< `accepted` holds the error itself
};

/// The receiver that refused a message or request. It makes the error only when the error is read.
class refuser {
 public:
  virtual error explain(refusal why) const = 0;
  virtual void add_ref() const noexcept = 0;
  virtual void release() const noexcept = 0;

 protected:
  ~refuser() = default;
};

/// The result of `tell`, for devices and actors: true if the request or message was accepted. May be ignored: the
/// outputs of a refused request become stale, so requests that read them fail with the reason. Two words; the error of
/// an actor's refusal is made only when `error` is called.
class accepted {
 public:
  accepted() noexcept = default;
  /// Makes the result of an accepted request.
  explicit accepted(std::uint64_t ticket) noexcept : word_(ticket) {}
  accepted(class error why);
  /// Makes the result of a refusal. `by` is null for refusal::empty.
  accepted(refusal why, const refuser* by) noexcept;

  explicit operator bool() const noexcept { return !by_; }
  /// Returns why the request or message was refused. Precondition: it was refused.
  class error error() const { return by_->explain(static_cast<refusal>(word_)); }
  /// Returns the request's place in the mailbox of its device; later requests have larger tickets. Returns 0 if it was
  /// refused, and for messages to actors.
  std::uint64_t ticket() const noexcept { return by_ ? 0 : word_; }

 private:
  ref<const refuser> by_;
  std::uint64_t word_ = 0;  // the ticket, or a `refusal` as a number
};

/// Returns the error for an empty reference to an actor.
error empty_reference();

}  // namespace troupe
