// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <vector>

namespace troupe {

/// The action that the receiver of an error should take. Supervisors decide by the reaction alone.
enum class reaction : std::uint8_t {
  caller_bug,    ///< fix the call: shape, bounds, stale buffer
  retry_later,   ///< the call is correct: full mailbox, out of memory, deadline missed, cancelled
  context_lost,  ///< the worker died: upload again and continue
  unsupported,   ///< this engine or hardware cannot; the text says what can
  stopped,       ///< the receiver was closed or has stopped
  fatal,         ///< a defect in the answering code (exception, dropped promise), in Troupe, or in its environment
};
TROUPE_ENUM(reaction, caller_bug, retry_later, context_lost, unsupported, stopped, fatal)

/// The request an error belongs to: its name, and its ticket, which is its place in the mailbox (0 if the mailbox did
/// not accept it). The name begins with the type of the request; for a launch, the kernel and the program follow; the
/// label of the call comes last, if it has one.
struct request_id {
  std::string name;
  std::uint64_t ticket = 0;
  friend bool operator==(const request_id&, const request_id&) = default;
};

/// The maximum number of requests that `error::chain` names.
inline constexpr std::size_t max_chain = 16;

template <class T>
class result;

/// Everything known about a failure. Immutable and cheap to copy (one shared pointer).
class error {
 public:
  struct details {
    enum reaction reaction = reaction::fatal;
    std::string domain;            ///< the component that reports it: "request", "memory", "channel", "blas" ...
    std::int64_t code = 0;         ///< the vendor's or the system's code; 0 if there is none
    std::string text;              ///< operation, field, value, what was expected, what to do
    request_id request = {};       ///< the request that failed first
    std::uint64_t generation = 0;  ///< the device's generation; 0 if no device is involved
    /// The first `max_chain` requests that failed because of this error, nearest to the cause first, without `request`.
    std::vector<request_id> chain = {};
    std::source_location source = {};  ///< where the error was created
  };

  explicit error(details d);
  error(enum reaction r, std::string domain, std::string text,
        std::source_location at = std::source_location::current());
  /// Makes an error from an errno code and the call that failed.
  static error from_errno(enum reaction r, std::string domain, std::string call, int code,
                          std::source_location at = std::source_location::current());

  /// Makes an error with `reaction::retry_later`. `code` is an errno number that states the reason: ETIMEDOUT (a time
  /// limit), ECANCELED, EAGAIN (a mailbox is full, or its receiver is being restarted) or ENOMEM (memory or a quota is
  /// exhausted).
  static error retry_later(std::string domain, int code, std::string text,
                           std::source_location at = std::source_location::current());

  enum reaction reaction() const noexcept { return details_->reaction; }
  const std::string& domain() const noexcept { return details_->domain; }
  std::int64_t code() const noexcept { return details_->code; }
  const std::string& text() const noexcept { return details_->text; }
  const request_id& request() const noexcept { return details_->request; }
  std::uint64_t generation() const noexcept { return details_->generation; }
  const std::vector<request_id>& chain() const noexcept { return details_->chain; }
  const std::source_location& source() const noexcept { return details_->source; }
  const details& all() const noexcept { return *details_; }

  /// Returns everything on one line: reaction, domain, request, text, chain. Consecutive requests of the chain with the
  /// same name are counted; "…" ends a chain of `max_chain` requests, which may have been longer.
  std::string to_string() const;

  /// Returns this error for `next`, a request that reads the failed outputs: adds `next` to the chain or, if the error
  /// names no request yet, makes it the error's request.
  error passed_on_to(request_id next) const;

 private:
  template <class T>
  friend class result;
  error() noexcept = default;  // no error, for results that hold a value

  std::shared_ptr<const details> details_;
};

}  // namespace troupe
