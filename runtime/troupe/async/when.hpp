// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <troupe/async/task.hpp>
#include <tuple>
#include <vector>

namespace troupe {
namespace detail {

error nothing_to_wait_for();

template <class T>
pending<T> as_pending(pending<T>&& x) noexcept {
  return std::move(x);
}
template <class T>
started<T> as_pending(task<T>&& x) {
  return start(std::move(x));
}
template <class X>
using pending_of = decltype(as_pending(std::declval<X&&>()));
template <class X>
concept pending_or_task = requires(X&& x) { as_pending(std::move(x)); };

/// Hears of the answers of several pendings. The state that owns them is kept until all have answered.
template <class Owner>
struct gathered : job {
  Owner* owner = nullptr;
  std::size_t index = 0;

  template <class T>
  void wait_for(pending<T>& source, Owner& to, std::size_t i) noexcept {
    run = [](job* self) noexcept {
      auto* me = static_cast<gathered*>(self);
      const auto keep = ref<Owner>::adopt(me->owner);
      keep->answered(me->index);
    };
    owner = &to;
    index = i;
    to.add_ref();
    if (!source.valid() || source.state()->attach(inline_executor(), *this) != attach_outcome::attached) run(this);
  }
};

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
  std::atomic<std::size_t> left_{sizeof...(Ts) + 1};  // one for `start`
};

/// Several pendings of one type; `Derived` says what happens when one has answered.
template <class T, class Answer, class Derived>
class vector_state : public pending_state<Answer> {
 public:
  explicit vector_state(std::vector<pending<T>> sources)
      : sources_(std::move(sources)), waits_(std::make_unique<gathered<Derived>[]>(sources_.size())) {}

  void start() noexcept {
    for (std::size_t i = 0; i < sources_.size(); ++i) waits_[i].wait_for(sources_[i], static_cast<Derived&>(*this), i);
  }
  void cancel() noexcept override {
    for (pending<T>& source : sources_) source.cancel();
  }

 protected:
  std::vector<pending<T>> sources_;

 private:
  std::unique_ptr<gathered<Derived>[]> waits_;
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

/// Waits for all; answers what each of them answered, in order, errors included. Tasks are started at once, in
/// order, on this thread; use `start(executor, task)` for another place. Cancelling cancels all.
template <detail::pending_or_task... Xs>
  requires(sizeof...(Xs) > 0)
auto when_all(Xs... sources) {
  using state = detail::all_of<typename detail::pending_of<Xs>::value_type...>;
  auto all = ref<state>::adopt(new state{detail::as_pending(std::move(sources))...});  // braces: in this order
  all->start();
  return pending<typename state::answer>(std::move(all));
}
template <class T>
pending<std::vector<result<T>>> when_all(std::vector<pending<T>> sources) {
  auto all = ref<detail::all_of_vector<T>>::adopt(new detail::all_of_vector<T>(std::move(sources)));
  all->start();
  return pending<std::vector<result<T>>>(std::move(all));
}

/// Which one answered first, and what.
template <class T>
struct first_answer {
  std::size_t index;
  result<T> answer;
};

namespace detail {
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

/// Answers with the first one that answers, error or not. The others are detached: they run to their end and their
/// answers are dropped. Cancelling cancels all of them. None to wait for is a `caller_bug`.
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
