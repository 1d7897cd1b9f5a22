// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/actor_core.hpp>

// How an actor ends: orders, the steps of the end, and who is told.
namespace troupe {

namespace {

using detail::watcher;

class watch_state final : public pending_state<exit_reason>, public watcher {
 public:
  explicit watch_state(actor_core& core) noexcept : core_(ref<actor_core>::share(&core)) {}
  void exited(const exit_reason& reason) noexcept override {
    complete(reason);
    release();
  }
  void cancel() noexcept override {
    if (!core_->remove_watcher(*this)) return;
    complete(cancelled("watching " + core_->name()));
    release();
  }

 private:
  const ref<actor_core> core_;
};

class stop_state final : public pending_state<void>, public watcher {
 public:
  void exited(const exit_reason&) noexcept override {
    complete({});
    release();
  }
};

/// Has a parent look around when its child has ended.
class child_watcher final : public watcher {
 public:
  explicit child_watcher(actor_core& parent) noexcept : parent_(ref<actor_core>::share(&parent)) {}
  void exited(const exit_reason&) noexcept override {
    parent_->push_system(std::make_unique<detail::system_message>());
    delete this;
  }

 private:
  const ref<actor_core> parent_;
};

}  // namespace

void body_count::leave() noexcept {
  const auto keep = ref<body_count>::share(this);
  if (count_.fetch_sub(1) == 1) futex_wake(count_, futex_scope::process);
}

void body_count::wait_for_none() const noexcept {
  while (const std::uint32_t seen = count_.load()) futex_wait(count_, seen, futex_scope::process);
}

void actor_core::stop(exit_kind kind) noexcept {
  mailbox_.close();
  const std::uint32_t order = stop_bit | (kind == exit_kind::shutdown ? shutdown_bit : 0);
  std::uint32_t seen = orders_.load();
  do {
    if (seen & (stop_bit | dead_bit)) return;
  } while (!orders_.compare_exchange_weak(seen, seen | order));
  wake();
}

void actor_core::kill() noexcept {
  mailbox_.close();
  std::uint32_t seen = orders_.load(), wanted;
  do {
    if (seen & (kill_bit | dead_bit)) return;
    wanted = seen | kill_bit | (seen & running_bit ? abandoned_bit : 0);
  } while (!orders_.compare_exchange_weak(seen, wanted));
  if (!(wanted & abandoned_bit)) return wake();

  // The turn is ours now, with its reference. The message stays where it is until the handler is done with it.
  if (phase_ == phase::alive) begin_exit(exit_kind::killed);
  current_->abandon(left_queued());
  if (source_ == source::mailbox) mailbox_.skip();
  if (orders_.fetch_or(killer_done_bit) & handler_done_bit) post(*executor_, [this] { destroy_abandoned(); });
  take_turn();
}

void actor_core::destroy_abandoned() noexcept {
  if (source_ == source::mailbox) {
    std::destroy_at(current_);  // its place was passed by `kill`
  } else {
    release_message();
  }
  destroy_body();
  const ref<body_count> bodies = origin_.bodies;
  release();
  if (bodies) bodies->leave();
}

void actor_core::begin_exit(exit_kind kind, std::optional<error> cause) noexcept {
  mailbox_.close();
  phase_ = phase::refusing;
  reason_ = {.kind = kind, .actor = name_, .id = id_, .cause = std::move(cause)};
}

/// What they are told whose message will not be handled.
error actor_core::left_queued() const {
  error::details d{.reaction = reaction::stopped, .domain = "actor"};
  if (reason_.kind == exit_kind::crashed && reason_.cause) d = reason_.cause->all();
  d.text = "this message was not handled: " + reason_.to_string();
  return error(std::move(d));
}

void actor_core::refuse_queued() noexcept {
  if (!mailbox_.front()) return;
  const error why = left_queued();
  while (detail::envelope* const message = mailbox_.front()) {
    message->refuse(why);
    mailbox_.pop();
  }
}

actor_core::step_outcome actor_core::exit_step() noexcept {
  drop_news();
  if ((seen_orders_ & kill_bit) && reason_.kind != exit_kind::crashed) reason_.kind = exit_kind::killed;
  switch (phase_) {
    case phase::alive:
    case phase::refusing:
      refuse_queued();
      if (!mailbox_.drained()) return step_outcome::nothing;  // somebody is writing its message at this moment
      phase_ = phase::farewell;
      return step_outcome::progress;
    case phase::farewell:
      phase_ = phase::children;
      return say_farewell();
    case phase::children:
      if (!children_ended()) return step_outcome::nothing;
      phase_ = phase::destroying;
      return step_outcome::progress;
    case phase::destroying:
    case phase::dead:
      report_end();
      return step_outcome::gone;
  }
  return step_outcome::gone;
}

actor_core::step_outcome actor_core::say_farewell() noexcept {
  if (!has_body_ || reason_.kind == exit_kind::killed) return step_outcome::progress;
  verdict_.reset();  // a failure from here on is the hook's
  farewell_ = make_farewell(reason_);
  return farewell_ ? deliver(*farewell_, source::farewell) : step_outcome::progress;
}

/// Stops the children one by one, the youngest first. False while one is not done: its end wakes us.
bool actor_core::children_ended() noexcept {
  {
    const std::lock_guard lock(guard_);
    may_have_children_ = false;  // from here on the list is ours
  }
  const bool kill_them = reason_.kind == exit_kind::killed || (seen_orders_ & kill_bit);
  while (!children_.empty()) {
    actor_core* const child = children_.back();
    if (child->ended()) {
      children_.pop_back();
      child->drop_handle();
      continue;
    }
    if (told_child_ != child) {
      told_child_ = child;
      killed_child_ = false;
      auto watch = std::make_unique<child_watcher>(*this);
      if (!child->add_watcher(*watch.release())) continue;
      if (!kill_them) child->stop(exit_kind::shutdown);
    }
    if (kill_them && !std::exchange(killed_child_, true)) child->kill();
    if (!child->ended()) return false;
  }
  return true;
}

void actor_core::report_end() noexcept {
  phase_ = phase::dead;
  const bool abandoned = (orders_.load() & abandoned_bit) != 0;
  if (!abandoned) {
    if (verdict_ && verdict_->kind == exit_kind::crashed && !reason_.abnormal()) {
      reason_.kind = exit_kind::crashed;
      reason_.cause = verdict_->cause;
    }
    if (has_body_) destroy_body();
  }

  std::vector<detail::watcher*> watchers;
  std::vector<ref<pending_core>> wishes;
  {
    const std::lock_guard lock(guard_);
    end_ = reason_;
    orders_.fetch_or(dead_bit);
    watchers.swap(watchers_);
    wishes.swap(wishes_);
  }
  detail::system_message* rest = news_.exchange(no_more_news());
  while (rest) delete std::exchange(rest, rest->next);
  for (const ref<pending_core>& wish : wishes) wish->cancel();
  for (detail::watcher* const w : watchers) w->exited(reason_);

  const ref<body_count> bodies = abandoned ? ref<body_count>() : origin_.bodies;
  if (!abandoned) release();  // the body's reference
  release();                  // the turn's, which nobody gets any more
  if (bodies) bodies->leave();
}

bool actor_core::add_watcher(detail::watcher& w) {
  {
    const std::lock_guard lock(guard_);
    if (!end_) return watchers_.push_back(&w), true;
  }
  w.exited(*end_);  // never changes again
  return false;
}

bool actor_core::remove_watcher(detail::watcher& w) noexcept {
  const std::lock_guard lock(guard_);
  return std::erase(watchers_, &w) != 0;
}

pending<exit_reason> actor_core::watch() {
  auto state = ref<watch_state>::adopt(new watch_state(*this));
  add_watcher(*ref<watch_state>(state).leak());
  return pending<exit_reason>(std::move(state));
}

pending<void> actor_core::stop_and_wait(exit_kind kind) {
  auto state = ref<stop_state>::adopt(new stop_state);
  add_watcher(*ref<stop_state>(state).leak());
  stop(kind);
  return pending<void>(std::move(state));
}

void actor_core::adopt_child(actor_core& child) {
  std::vector<actor_core*> ended;
  bool adopted = false;
  {
    const std::lock_guard lock(guard_);
    if (may_have_children_) {
      if (children_.size() == children_.capacity()) {
        std::erase_if(children_, [&](actor_core* c) {
          if (!c->ended()) return false;
          ended.push_back(c);
          return true;
        });
      }
      children_.push_back(&child);
      child.add_handle();
      adopted = true;
    }
  }
  if (!adopted) child.kill();  // the parent was killed while its handler ran
  for (actor_core* const c : ended) c->drop_handle();
}

void actor_core::keep_until_end(ref<pending_core> wish) {
  {
    const std::lock_guard lock(guard_);
    if (!end_) {
      if (wishes_.size() == wishes_.capacity())
        std::erase_if(wishes_, [](const ref<pending_core>& w) { return w->done(); });
      wishes_.push_back(std::move(wish));
      return;
    }
  }
  wish->cancel();
}

}  // namespace troupe
