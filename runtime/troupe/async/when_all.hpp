// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <troupe/async/gather.hpp>
#include <tuple>

namespace troupe {
namespace detail {

template <class... Ts>
class all_of final : public pending_state<std::tuple<result<Ts>...>> {
 public:
  using answer = std::tuple<result<Ts>...>;
  explicit all_of(pending<Ts>... sources) noexcept : sources_(std::move(sources)...) {}

  void start() noexcept {
    each([this](auto& source, std::size_t i) { waits_[i].wait_for(source, *this, i); });
    answered(sizeof...(Ts));
  }
  void answered(std::size_t) noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::apply([this](auto&... s) { this->complete(answer(s.take()...)); }, sources_);
  }
  void cancel() noexcept override {
    each([](auto& source, std::size_t) { source.cancel(); });
  }

 private:
  template <class F>
  void each(F f) noexcept {
    std::apply(
        [&](auto&... s) {
          std::size_t i = 0;
          (f(s, i++), ...);
        },
        sources_);
  }

  std::tuple<pending<Ts>...> sources_;
  std::array<gathered<all_of>, sizeof...(Ts)> waits_;
  std::atomic<std::size_t> left_{sizeof...(Ts) + 1};  // sources without an answer, plus one that `start` releases
};

template <class T>
class all_of_vector final : public vector_state<T, std::vector<result<T>>, all_of_vector<T>> {
 public:
  using all_of_vector::vector_state::vector_state;
  void start() noexcept {
    all_of_vector::vector_state::start();
    answered(0);
  }
  void answered(std::size_t) noexcept {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::vector<result<T>> answers;
    answers.reserve(this->sources_.size());
    for (pending<T>& source : this->sources_) answers.push_back(source.take());
    this->complete(std::move(answers));
  }

 private:
  std::atomic<std::size_t> left_{this->sources_.size() + 1};
};

}  // namespace detail

/// Waits for all sources. The answer holds the answer of each, in order, errors included. Tasks are started at once, in
/// order, on this thread; to start one elsewhere, pass `start(executor, task)`. Cancelling the pending cancels all
/// sources.
template <detail::pending_or_task... Xs>
  requires(sizeof...(Xs) > 0)
auto when_all(Xs... sources) {
  using state = detail::all_of<typename detail::pending_of<Xs>::value_type...>;
  auto all = ref<state>::adopt(new state{detail::as_pending(std::move(sources))...});  // braces: evaluated in order
  all->start();
  return pending<typename state::answer>(std::move(all));
}
template <class T>
pending<std::vector<result<T>>> when_all(std::vector<pending<T>> sources) {
  auto all = ref<detail::all_of_vector<T>>::adopt(new detail::all_of_vector<T>(std::move(sources)));
  all->start();
  return pending<std::vector<result<T>>>(std::move(all));
}

}  // namespace troupe
