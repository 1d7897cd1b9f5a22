// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <troupe/actor/actor_origin.hpp>
#include <troupe/actor/exit_reason.hpp>
#include <troupe/actor/mailbox.hpp>
#include <troupe/async/executor.hpp>
#include <troupe/async/pending.hpp>
#include <vector>

namespace troupe {

namespace detail {

/// Told once when an actor ends.
class watcher {
 public:
  virtual void exited(const exit_reason& reason) noexcept = 0;

 protected:
  ~watcher() = default;
};

/// A message that cannot be refused, because its place was made before it was needed: news for the actor itself.
struct system_message {
  system_message* next = nullptr;
  std::unique_ptr<envelope> content;  ///< null only makes the actor look around
};

}  // namespace detail

namespace detail {
/// Why an actor has ended that was spawned too late.
error closed_stage();
}  // namespace detail

/// An actor without its type: mailbox, turn, end. The typed view is `actor_ref<A>`.
///
/// **The turn.** A thread that moved `schedule` from idle to scheduled owns the turn: it alone reads the mailbox, runs
/// handlers and goes through the steps of the end. The turn is passed on by posting the core's job, or held by a task
/// that a handler returned, until it ends.
///
/// **Nothing is left lying.** Before it rests, the owner stores idle and then looks again at everything that could be
/// new (next cell, news, orders); a sender first makes its thing visible and then looks at `schedule`. All four are
/// sequentially consistent, so one of the two sees the other.
///
/// **Kill.** `orders` has a bit for a running handler. Setting the kill bit while that is set also takes the turn away
/// from the handler: the killer answers everybody and reports the end, the handler finds itself abandoned when it is
/// done, and the last of the two destroys message and actor. So no handler can delay a kill.
class actor_core : public refuser, private job {
 public:
  actor_core(const actor_core&) = delete;
  actor_core& operator=(const actor_core&) = delete;

  // --- any thread ---
  const std::string& name() const noexcept { return name_; }
  std::uint64_t id() const noexcept { return id_; }
  executor& where() const noexcept { return *executor_; }
  const actor_origin& origin() const noexcept { return origin_; }
  std::size_t capacity() const noexcept { return mailbox_.capacity(); }
  std::size_t queued() const noexcept { return mailbox_.size(); }
  /// The object; its type is known to the sender.
  void* body() const noexcept { return body_; }
  bool stopping() const noexcept { return (orders_.load() & (stop_bit | kill_bit)) != 0; }
  bool ended() const noexcept { return (orders_.load() & dead_bit) != 0; }

  template <class Envelope, class... Args>
  refusal push(Args&&... args) {
    struct waker {
      actor_core* self;
      ~waker() {
        if (self) self->wake();
      }
    } always{this};
    const refusal why = mailbox_.push<Envelope>(std::forward<Args>(args)...);
    if (why != refusal::none) always.self = nullptr;
    return why;
  }
  /// Never refused; dropped when the actor has ended.
  void push_system(std::unique_ptr<detail::system_message> news) noexcept;

  void stop(exit_kind kind) noexcept;
  void kill() noexcept;
  /// False when the actor has ended: `w` was told on the spot. Else it is told once, unless it is removed before.
  bool add_watcher(detail::watcher& w);
  /// True when it was there and will not be told.
  bool remove_watcher(detail::watcher& w) noexcept;
  pending<exit_reason> watch();
  pending<void> stop_and_wait(exit_kind kind);

  error explain(refusal why) const override;
  void add_ref() const noexcept final { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept final {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Handles are the references that can send: without one the actor is stopped.
  void add_handle() noexcept {
    if (handles_.fetch_add(1, std::memory_order_relaxed) == 0) add_ref();
  }
  void drop_handle() noexcept;

  // --- from handlers, see envelope.hpp ---
  bool handler_ended() noexcept;
  void release_message() noexcept;
  /// The actor ends when the current handler has returned, and what is queued is refused. The first call decides.
  void leave(exit_kind kind, const error* cause) noexcept;
  void crash(const error& why) noexcept { leave(exit_kind::crashed, &why); }
  void go_on() noexcept { take_turn(); }

  // --- from the actor itself ---
  void adopt_child(actor_core& child);
  /// Cancelled when the actor ends, so that nothing is kept for a dead actor.
  void keep_until_end(ref<pending_core> wish);

 protected:
  actor_core(void* body, std::string name, std::size_t capacity, executor& where, actor_origin origin);
  virtual ~actor_core();

  /// The object was built, or not: from now on messages are handled or refused.
  void begin() noexcept;
  void begin_without_body(exit_kind kind, const error& why) noexcept;

  virtual void destroy_body() noexcept = 0;
  /// The call of the `terminate` hook; null without one.
  virtual std::unique_ptr<detail::envelope> make_farewell(const exit_reason& reason) = 0;

 private:
  enum class phase : std::uint8_t { alive, refusing, farewell, children, destroying, dead };
  enum class source : std::uint8_t { nothing, mailbox, system, farewell };
  enum class step_outcome : std::uint8_t { progress, nothing, gone };
  static constexpr std::uint32_t stop_bit = 1, shutdown_bit = 2, kill_bit = 4, running_bit = 8, abandoned_bit = 16,
                                 killer_done_bit = 32, handler_done_bit = 64, dead_bit = 128;
  static constexpr std::uint32_t idle = 0, scheduled = 1;
  static constexpr unsigned turn_length = 64;

  struct verdict {
    exit_kind kind;
    std::optional<error> cause;
  };

  static void run_job(job* self) noexcept;
  static detail::system_message* no_more_news() noexcept;
  void pass_on() noexcept { executor_->post(*this); }
  void wake() noexcept;
  void take_turn() noexcept;
  bool pass_turn() noexcept;
  bool rest() noexcept;
  step_outcome step() noexcept;
  step_outcome deliver(detail::envelope& message, source from) noexcept;
  bool collect_news() noexcept;
  void drop_news() noexcept;

  void begin_exit(exit_kind kind, std::optional<error> cause = {}) noexcept;
  void refuse_queued() noexcept;
  step_outcome exit_step() noexcept;
  step_outcome say_farewell() noexcept;
  bool children_ended() noexcept;
  void report_end() noexcept;
  error left_queued() const;
  void destroy_abandoned() noexcept;

  // Senders look at these.
  std::atomic<std::uint32_t> schedule_{scheduled};
  std::atomic<detail::system_message*> news_{nullptr};
  mutable std::atomic<std::uint32_t> refs_{2};  // one for the body, one for the turn that builds it
  std::atomic<std::uint32_t> handles_{0};
  executor* const executor_;
  void* const body_;
  detail::mailbox mailbox_;

  std::atomic<std::uint32_t> orders_{0};
  // The turn's owner only.
  std::uint32_t seen_orders_ = 0;
  phase phase_ = phase::alive;
  source source_ = source::nothing;
  bool has_body_ = true;
  detail::envelope* current_ = nullptr;
  std::unique_ptr<detail::system_message> current_news_;
  detail::system_message* fetched_news_ = nullptr;
  std::unique_ptr<detail::envelope> farewell_;
  std::optional<verdict> verdict_;
  exit_reason reason_;
  actor_core* told_child_ = nullptr;
  bool killed_child_ = false;

  const std::string name_;
  const std::uint64_t id_;
  const actor_origin origin_;
  mutable std::mutex guard_;  // for what follows
  std::vector<detail::watcher*> watchers_;
  std::vector<actor_core*> children_;  // a handle each
  bool may_have_children_ = true;
  std::vector<ref<pending_core>> wishes_;
  std::optional<exit_reason> end_;
};

}  // namespace troupe
