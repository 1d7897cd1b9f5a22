// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A limit on how long a coroutine waits, whatever it waits for.
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/async/promise.hpp>
#include <troupe/async/when.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;

/// Returns the answer if it arrives within `limit`, else `retry_later`.
template <class T>
task<result<T>> within(alarm_clock& clock, time_span limit, pending<T> answer) {
  std::stop_source over;
  pending<T> alarm = clock.wake_at(limit.after(clock.now_ns())).then([](result<void>) -> result<T> {
    return error(reaction::retry_later, "example", "there is no answer yet");
  });
  first_answer<T> first =
      co_await when_any(std::move(answer).cancel_on(over.get_token()), std::move(alarm).cancel_on(over.get_token()));
  over.request_stop();  // cancels the loser: the alarm, or the late answer
  co_return std::move(first.answer);
}

int main() {
  runtime rt;
  device gpu = rt.open_device();
  monotonic_clock clock;

  const result<std::uint64_t> in_time = sync_wait(within(clock, 30s, gpu.ping(7)));

  promise<int> nobody;  // never set within the limit
  const result<int> too_late = sync_wait(within(clock, 10ms, nobody.get_pending()));
  if (!too_late) std::printf("%s\n", too_late.error().to_string().c_str());

  const bool right = in_time && *in_time == 7 && !too_late && too_late.error().reaction() == reaction::retry_later;
  return right && nobody.cancel_requested() ? 0 : 1;
}
