// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/task.hpp>

namespace troupe {
namespace detail {

/// A started task: its answer, its context and the job that begins it, in one block.
template <class T>
class started_task final : public pending_state<typename value_of<T>::type>, public task_context, private job {
 public:
  started_task(executor& where, task<T> work) noexcept
      : task_context(where), job{.run = &begin}, task_(std::move(work)) {}

  /// Posts the task to its executor, and adds a reference that the running task holds.
  void start(std::stop_token token) {
    this->add_ref();
    if (token.stop_possible()) link_ = std::make_unique<cancel_link>(std::move(token), *this);
    where().post(*this);
  }
  void cancel() noexcept override { stop().request_stop(); }

 private:
  static void begin(job* self) noexcept {
    auto* me = static_cast<started_task*>(self);
    if (!me->task_.valid()) return me->finish_with(empty_task());
    me->task_.promise().belongs_to(*me, nullptr);
    me->drive({.resume = me->task_.handle()});
  }
  void root_ended() noexcept override { finish_with(std::move(task_.promise().outcome()).to_result()); }
  void finish_with(result<typename value_of<T>::type> answer) noexcept {
    const auto me = ref<started_task>::adopt(this);
    task_ = {};  // destroys the frame before the answer is visible
    link_ = nullptr;
    this->complete(std::move(answer));
  }

  task<T> task_;
  std::unique_ptr<cancel_link> link_;
};

}  // namespace detail

/// The pending that starting a task returns: a `pending<T>` for a `task<T>` and for a `task<result<T>>`.
template <class T>
using started = pending<typename detail::value_of<T>::type>;

/// Runs the task on the executor, which must outlive it. Cancelling the pending, or requesting a stop through `token`,
/// requests a stop of the task's `get_stop_token()`. An exception that leaves the task becomes a `fatal` error.
template <class T>
started<T> start(executor& where, task<T> work, std::stop_token token = {}) {
  using state = detail::started_task<T>;
  auto running = ref<state>::adopt(new state(where, std::move(work)));
  running->start(std::move(token));
  return started<T>(std::move(running));
}
/// Runs the task at once on this thread. After each wait it continues on the thread that set the answer.
template <class T>
started<T> start(task<T> work, std::stop_token token = {}) {
  return start(inline_executor(), std::move(work), std::move(token));
}

/// Starts the task on this thread and blocks until it has ended.
template <class T>
auto sync_wait(task<T> work) {
  return start(std::move(work)).get();
}

}  // namespace troupe
