// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <source_location>
#include <string_view>
#include <troupe/async/pending_core.hpp>
#include <troupe/async/ref.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

namespace detail {
error not_answered_yet();
error already_taken();
error empty_pending();
/// Of a promise that was made there.
error dropped_promise(const std::source_location& made);
/// Inside a catch block: what was thrown, as an error. A `bad_result` keeps the error it carries.
error from_current_exception(std::string_view domain);
}  // namespace detail

/// The answer of a `pending<T>` and the memory it lives in. A runtime derives from it to keep what belongs to a request
/// in the same block, and makes the consumer's side with `pending<T>(ref<pending_state<T>>)`.
template <class T>
class pending_state : public pending_core {
 public:
  using pending_core::pending_core;

  /// Sets the answer. True for the first caller, whose answer counts; later ones are refused. Thread safe. The
  /// continuation runs before this returns when its executor is inline. The caller holds a reference.
  bool complete(result<T> answer) noexcept {
    if (!claim()) return false;
    answer_.emplace(std::move(answer));
    finish();
    return true;
  }

  /// Moves the answer out. A thread that comes too early or too late gets a `caller_bug` error. Thread safe.
  result<T> take() {
    if (!done()) return detail::not_answered_yet();
    if (!claim_value()) return detail::already_taken();
    return std::move(*answer_);
  }

 protected:
  ~pending_state() override = default;

 private:
  std::optional<result<T>> answer_;
};

}  // namespace troupe
