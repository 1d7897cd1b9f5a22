// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/actor_core.hpp>
#include <troupe/base/cat.hpp>

namespace troupe {

namespace {

std::uint64_t next_id() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// An actor whose owner is inside `executor::post` on this thread, passing its turn on.
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

actor_core::actor_core(void* body, std::string name, std::size_t capacity, executor& where, actor_origin origin)
    : job{.run = &run_job},
      executor_(&where),
      body_(body),
      mailbox_(capacity),
      name_(std::move(name)),
      id_(next_id()),
      origin_(std::move(origin)) {
  if (origin_.bodies) origin_.bodies->enter();
}

actor_core::~actor_core() = default;

void actor_core::begin() noexcept {
  if (verdict_ || rest()) pass_on();
}

void actor_core::begin_without_body(exit_kind kind, const error& why) noexcept {
  has_body_ = false;
  leave(kind, &why);
  pass_on();
}

void actor_core::drop_handle() noexcept {
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  stop(exit_kind::normal);
  release();
}

void actor_core::wake() noexcept {
  if (schedule_.load() != idle || schedule_.exchange(scheduled) != idle) return;
  add_ref();  // the turn's
  pass_on();
}

void actor_core::run_job(job* self) noexcept {
  auto* const core = static_cast<actor_core*>(self);
  // An executor that runs jobs at once has called us from `pass_turn`: go on there, or the stack would grow.
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

/// Lets others on the executor have a go. True when this thread still owns the turn.
bool actor_core::pass_turn() noexcept {
  passing here{.core = this};
  passing* const outer = std::exchange(passing_here, &here);
  pass_on();  // after this line another thread may own the turn
  passing_here = outer;
  return here.came_back;
}

/// True when there is something new and the turn is still ours; else the turn's reference is gone.
bool actor_core::rest() noexcept {
  const detail::mailbox::next_place next = mailbox_.next();
  const std::uint32_t seen = seen_orders_;
  schedule_.store(idle);
  if ((next.ready() || news_.load() || orders_.load() != seen) && schedule_.exchange(scheduled) == idle) return true;
  release();
  return false;
}

actor_core::step_outcome actor_core::step() noexcept {
  seen_orders_ = orders_.load();
  if (phase_ != phase::alive) return exit_step();
  if (seen_orders_ & kill_bit) return begin_exit(exit_kind::killed), step_outcome::progress;
  if (verdict_) return begin_exit(verdict_->kind, verdict_->cause), step_outcome::progress;
  if (collect_news()) {
    current_news_.reset(std::exchange(fetched_news_, fetched_news_->next));
    if (current_news_->content) return deliver(*current_news_->content, source::system);
    current_news_ = nullptr;
    return step_outcome::progress;
  }
  if (detail::envelope* const message = mailbox_.front()) return deliver(*message, source::mailbox);
  if ((seen_orders_ & stop_bit) && mailbox_.drained()) {
    begin_exit(seen_orders_ & shutdown_bit ? exit_kind::shutdown : exit_kind::normal);
    return step_outcome::progress;
  }
  return step_outcome::nothing;
}

actor_core::step_outcome actor_core::deliver(detail::envelope& message, source from) noexcept {
  current_ = &message;
  source_ = from;
  if (orders_.fetch_or(running_bit) & kill_bit) {  // and from here on `kill` may take the turn
    orders_.fetch_and(~running_bit);
    current_ = nullptr;
    if (from != source::mailbox) release_message();
    if (phase_ == phase::alive) begin_exit(exit_kind::killed);
    return step_outcome::progress;
  }
  return message.deliver(*this) == detail::handled::ended ? step_outcome::progress : step_outcome::gone;
}

bool actor_core::handler_ended() noexcept {
  if ((orders_.fetch_and(~running_bit) & abandoned_bit) == 0) {
    current_ = nullptr;
    return true;
  }
  if (orders_.fetch_or(handler_done_bit) & killer_done_bit) destroy_abandoned();
  return false;
}

void actor_core::release_message() noexcept {
  switch (std::exchange(source_, source::nothing)) {
    case source::nothing:
      break;
    case source::mailbox:
      mailbox_.pop();
      break;
    case source::system:
      current_news_ = nullptr;
      break;
    case source::farewell:
      farewell_ = nullptr;
      break;
  }
}

void actor_core::leave(exit_kind kind, const error* cause) noexcept {
  mailbox_.close();
  if (verdict_) return;
  verdict_.emplace(verdict{.kind = kind, .cause = {}});
  if (cause) verdict_->cause = *cause;
}

detail::system_message* actor_core::no_more_news() noexcept {
  static constinit detail::system_message last;
  return &last;
}

bool actor_core::collect_news() noexcept {
  if (fetched_news_) return true;
  if (!news_.load()) return false;
  detail::system_message* newest = news_.exchange(nullptr);
  while (newest) {  // oldest first
    detail::system_message* const older = newest->next;
    newest->next = fetched_news_;
    fetched_news_ = newest;
    newest = older;
  }
  return true;
}

void actor_core::drop_news() noexcept {
  while (collect_news()) delete std::exchange(fetched_news_, fetched_news_->next);
}

void actor_core::push_system(std::unique_ptr<detail::system_message> news) noexcept {
  detail::system_message* newest = news_.load();
  do {
    if (newest == no_more_news()) return;
    news->next = newest;
  } while (!news_.compare_exchange_weak(newest, news.get()));
  (void)news.release();
  wake();
}

error actor_core::explain(refusal why) const {
  const std::string self = cat(name_, " #", id_);
  switch (why) {
    case refusal::full:
      return error(reaction::retry_later, "actor",
                   cat("the mailbox of ", self, " is full (capacity ", mailbox_.capacity(),
                       "): send again later, send slower, or give it a larger actor_options::mailbox"));
    case refusal::stopped: {
      const std::lock_guard lock(guard_);
      return error(reaction::stopped, "actor",
                   self + " takes no more messages; watch it, or supervise it and send to its supervised_ref (" +
                       (end_ ? end_->to_string() : "it is stopping") + ")");
    }
    case refusal::none:
    case refusal::restarting:
    case refusal::empty:
    case refusal::other:
      break;
  }
  return empty_reference();
}

error detail::closed_stage() {
  return error(reaction::stopped, "actor", "its stage was closed before it was spawned: nothing was built");
}

}  // namespace troupe
