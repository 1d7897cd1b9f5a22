// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/task.hpp>
#include <vector>

// The code that when_all and when_any share.
namespace troupe::detail {

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

/// Calls `Owner::answered(index)` when the pending with this index is answered. Keeps the owner alive until then.
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

/// The state for several pendings of one type. `Derived::answered` decides what happens when one of them is answered.
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

}  // namespace troupe::detail
