// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <troupe/async/gather.hpp>

namespace troupe {

/// The source that was answered first, and its answer.
template <class T>
struct first_answer {
  std::size_t index;
  result<T> answer;
};

namespace detail {

error nothing_to_wait_for();

template <class T>
class any_of final : public vector_state<T, first_answer<T>, any_of<T>> {
 public:
  using any_of::vector_state::vector_state;
  void answered(std::size_t index) noexcept {
    if (!won_.exchange(true)) this->complete(first_answer<T>{index, this->sources_[index].take()});
  }

 private:
  std::atomic<bool> won_{false};
};

}  // namespace detail

/// Waits for the first source that is answered, with an error or not. The others are detached: they run to their end,
/// and their answers are discarded. Cancelling the pending cancels all sources. Fails with `caller_bug` if there are no
/// sources.
template <class T>
pending<first_answer<T>> when_any(std::vector<pending<T>> sources) {
  if (sources.empty()) return make_ready<first_answer<T>>(detail::nothing_to_wait_for());
  auto any = ref<detail::any_of<T>>::adopt(new detail::any_of<T>(std::move(sources)));
  any->start();
  return pending<first_answer<T>>(std::move(any));
}
template <detail::pending_or_task X, detail::pending_or_task... Xs>
  requires(std::is_same_v<detail::pending_of<X>, detail::pending_of<Xs>> && ...)
auto when_any(X first, Xs... others) {
  std::vector<detail::pending_of<X>> sources;
  sources.reserve(1 + sizeof...(Xs));
  sources.push_back(detail::as_pending(std::move(first)));
  (sources.push_back(detail::as_pending(std::move(others))), ...);
  return when_any(std::move(sources));
}

}  // namespace troupe
