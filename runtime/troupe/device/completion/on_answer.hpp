// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/device/asked.hpp>

/// Lets the device wait for answers of requests in order to complete other pendings.
namespace troupe::detail {

inline ref<asked<void>> new_answer(const std::shared_ptr<device_core>& core) {
  return ref<asked<void>>::adopt(new asked<void>(core));
}

/// The job of `when_answered`.
template <class F>
struct on_answer final : job {
  on_answer(ref<pending_state<void>> s, F f) : job{.run = &invoke}, state(std::move(s)), function(std::move(f)) {}
  static void invoke(job* self) noexcept {
    auto* me = static_cast<on_answer*>(self);
    me->function(me->state->take());
    delete me;
  }
  ref<pending_state<void>> state;
  F function;
};

/// Calls `f(answer)`: while the request is being answered, under the drive lock (see completion.hpp); or, if it has
/// been answered already, at once in this thread, without the lock. `f` must be short, must not block, and must not
/// send requests to the device.
template <class F>
void when_answered(ref<pending_state<void>> state, F f) {
  auto* j = new on_answer<F>(std::move(state), std::move(f));
  if (j->state->attach(immediate_executor(), *j) == attach_outcome::already_done) on_answer<F>::invoke(j);
}

}  // namespace troupe::detail
