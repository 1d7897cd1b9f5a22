// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <troupe/actor/core/actor_core.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe {

namespace {

std::uint64_t next_id() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// An actor whose turn this thread is passing on with `executor::post`.
struct passing {
  const actor_core* core;
  bool came_back = false;
};
thread_local constinit passing* passing_here = nullptr;

}  // namespace

namespace detail {

handled empty_envelope::deliver(actor_core& to) noexcept {
  if (!to.handler_ended()) return handled::lost;
  to.release_message();
  return handled::ended;
}

}  // namespace detail

actor_core::actor_core(void* object, std::string name, std::size_t capacity, executor& where, actor_origin origin)
    : job{.run = &run_job},
      executor_(&where),
      object_(object),
      mailbox_(capacity),
      name_(std::move(name)),
      id_(next_id()),
      origin_(std::move(origin)) {
  if (origin_.objects) origin_.objects->enter();
}

actor_core::~actor_core() = default;

void actor_core::begin() noexcept {
  if (exit_.request() || rest()) executor_->post(*this);
}

void actor_core::begin_without_object(exit_kind kind, const error& why) noexcept {
  has_object_ = false;
  leave(kind, &why);
  executor_->post(*this);
}

void actor_core::drop_handle() noexcept {
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  stop(exit_kind::normal);
  release();
}

void actor_core::wake() noexcept {
  if (schedule_.load() != idle || schedule_.exchange(scheduled) != idle) return;
  add_ref();  // the reference of the turn
  executor_->post(*this);
}

void actor_core::run_job(job* self) noexcept {
  auto* const core = static_cast<actor_core*>(self);
  // An executor that runs jobs at once calls this function inside `pass_turn`. Return to it, so that the stack does not
  // grow.
  if (passing_here && passing_here->core == core) {
    passing_here->came_back = true;
    return;
  }
  core->take_turn();
}

void actor_core::take_turn() noexcept {
  for (unsigned left = turn_length;;) {
    switch (step()) {
      case step_outcome::gone:
        return;
      case step_outcome::nothing:
        if (!rest()) return;
        break;
      case step_outcome::progress:
        if (--left > 0) break;
        if (!pass_turn()) return;
        left = turn_length;
    }
  }
}

/// Lets the executor run other jobs. Returns true if this thread still owns the turn.
bool actor_core::pass_turn() noexcept {
  passing here{.core = this};
  passing* const outer = std::exchange(passing_here, &here);
  executor_->post(*this);  // from here on, another thread may own the turn
  passing_here = outer;
  return here.came_back;
}

/// Ends the turn if there is nothing to do, and releases its reference. Returns true if there is something, and this
/// thread still owns the turn.
bool actor_core::rest() noexcept {
  const detail::mailbox::next_place next = mailbox_.next();
  const detail::actor_orders::snapshot seen = seen_orders_;
  schedule_.store(idle);
  if ((next.ready() || system_.has_new() || orders_.load() != seen) && schedule_.exchange(scheduled) == idle)
    return true;
  release();
  return false;
}

actor_core::step_outcome actor_core::step() noexcept {
  seen_orders_ = orders_.load();
  if (!exit_.alive()) return exit_step();
  if (seen_orders_.kill()) return begin_exit(exit_kind::killed), step_outcome::progress;
  if (const auto& request = exit_.request()) return begin_exit(request->kind, request->cause), step_outcome::progress;
  if (const auto message = system_.pop()) {
    if (!message->content) return step_outcome::progress;
    current_.own(std::move(message->content));
    return run_handler();
  }
  if (detail::envelope* const message = mailbox_.front()) {
    current_.refer_to(*message);
    return run_handler();
  }
  if (seen_orders_.stop() && mailbox_.drained()) {
    begin_exit(seen_orders_.shutdown() ? exit_kind::shutdown : exit_kind::normal);
    return step_outcome::progress;
  }
  return step_outcome::nothing;
}

actor_core::step_outcome actor_core::run_handler() noexcept {
  if (!orders_.begin_handler()) {
    current_.put_back();
    if (exit_.alive()) begin_exit(exit_kind::killed);
    return step_outcome::progress;
  }
  return current_.get().deliver(*this) == detail::handled::ended ? step_outcome::progress : step_outcome::gone;
}

bool actor_core::handler_ended() noexcept {
  if (orders_.end_handler()) return true;
  if (orders_.handler_done()) destroy_abandoned();
  return false;
}

void actor_core::release_message() noexcept { current_.release(mailbox_); }

void actor_core::leave(exit_kind kind, const error* cause) noexcept {
  mailbox_.close();
  exit_.request(kind, cause);
}

void actor_core::push_system(std::unique_ptr<detail::system_message> message) noexcept {
  if (system_.push(std::move(message))) wake();
}

error actor_core::explain(refusal why) const {
  const std::string self = cat(name_, " #", id_);
  switch (why) {
    case refusal::full:
      return error::retry_later("actor", EAGAIN,
                                cat("the mailbox of ", self, " is full (capacity ", mailbox_.capacity(),
                                    "): send again later, send less often, or set a larger actor_options::mailbox"));
    case refusal::stopped: {
      const exit_reason* const end = watchers_.reason();
      return error(reaction::stopped, "actor",
                   self + " takes no more messages; watch it, or supervise it and send to its supervised_ref (" +
                       (end ? end->to_string() : "it is stopping") + ")");
    }
    case refusal::none:
    case refusal::restarting:
    case refusal::empty:
    case refusal::other:
      break;
  }
  return empty_reference();
}

}  // namespace troupe
