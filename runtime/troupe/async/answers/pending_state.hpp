// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <source_location>
#include <string_view>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/async/ref.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

namespace detail {
error not_answered_yet();
error already_taken();
error empty_pending();
/// Returns the error of a promise that was created at `made` and dropped without an answer.
error dropped_promise(const std::source_location& made);
/// Turns the exception being handled into an error; call it in a catch block. A `bad_result` becomes the error that it
/// holds.
error from_current_exception(std::string_view domain);
}  // namespace detail

/// The shared state of a `pending<T>`. A runtime derives from it to keep the data of a request in the same block, and
/// makes the consumer's side with `pending<T>(ref<pending_state<T>>)`.
template <class T>
class pending_state : public pending_core {
 public:
  using pending_core::pending_core;

  /// Sets the answer. Returns true for the first call; later answers are ignored. Thread-safe. If the continuation's
  /// executor is inline, the continuation runs before `complete` returns. The caller must hold a reference.
  bool complete(result<T> answer) noexcept {
    if (!claim()) return false;
    answer_.emplace(std::move(answer));
    finish();
    return true;
  }

  /// Moves the answer out. Fails with `caller_bug` if the answer has not arrived or was taken already. Thread-safe.
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
