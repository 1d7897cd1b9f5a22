// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>

namespace troupe {
namespace detail {

/// The state of the pending that `pending<T>::then` returns, and the job that waits for the original one.
template <class T, class F>
class then_state final : public pending_state<then_value<T, F>>, private job {
  using value = then_value<T, F>;

 public:
  template <class G>
  then_state(pending<T> source, G&& function)
      : job{.run = &call}, source_(std::move(source)), function_(std::forward<G>(function)) {}

  /// Attaches the job, and adds a reference that the job holds.
  void start(executor& where) noexcept {
    this->add_ref();
    if (!source_.valid() || source_.state()->attach(where, *this) != attach_outcome::attached) where.post(*this);
  }
  void cancel() noexcept override { source_.cancel(); }

 private:
  static void call(job* self) noexcept {
    const auto me = ref<then_state>::adopt(static_cast<then_state*>(self));
    me->complete(me->answer());
  }
  result<value> answer() noexcept {
    F function = std::move(*function_);
    function_.reset();
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F&, result<T>>>) {
        function(source_.take());
        return {};
      } else {
        return function(source_.take());
      }
    } catch (...) {
      return from_current_exception("async");
    }
  }

  pending<T> source_;
  std::optional<F> function_;
};

}  // namespace detail

template <class T>
template <class F>
pending<detail::then_value<T, std::decay_t<F>>> pending<T>::then(executor& where, F&& f) && {
  using function = std::decay_t<F>;
  using state = detail::then_state<T, function>;
  auto next = ref<state>::adopt(new state(std::move(*this), std::forward<F>(f)));
  next->start(where);
  return pending<detail::then_value<T, function>>(std::move(next));
}

}  // namespace troupe
