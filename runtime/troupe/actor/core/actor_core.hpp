// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <troupe/actor/core/actor_orders.hpp>
#include <troupe/actor/core/actor_origin.hpp>
#include <troupe/actor/ending/exit_progress.hpp>
#include <troupe/actor/ending/exit_watchers.hpp>
#include <troupe/actor/messages/current_message.hpp>
#include <troupe/actor/messages/mailbox.hpp>
#include <troupe/actor/messages/system_queue.hpp>
#include <troupe/actor/supervision/child_list.hpp>
#include <troupe/async/executor.hpp>

namespace troupe {

/// The untyped part of an actor: its state, its references, and the turn. `actor_ref<A>` is the typed view.
///
/// **The turn.** A thread that moves `schedule` from idle to scheduled owns the turn. The owner alone reads the mailbox
/// and the system queue, runs handlers and takes the steps of the end. It passes the turn on by posting the core's job.
/// A task that a handler returned holds the turn until the task ends.
///
/// **No message or order is missed.** Before the owner rests, it stores idle and then reads everything that can be new:
/// the next cell of the mailbox, the system queue, the orders. A sender first makes its message or order visible and
/// then reads `schedule`. All these operations are sequentially consistent, so either the owner sees the new message or
/// order, or the sender sees idle and takes the turn.
///
/// **Kill.** A kill while a handler runs takes the turn from the handler: see `actor_orders`. The killing thread
/// answers all callers and reports the end; the handler's thread finds the handler abandoned when it returns. The last
/// of the two destroys the message and the object. So no handler can delay a kill.
class actor_core : public refuser, private job {
 public:
  actor_core(const actor_core&) = delete;
  actor_core& operator=(const actor_core&) = delete;

  // --- any thread ---
  const std::string& name() const noexcept { return name_; }
  std::uint64_t id() const noexcept { return id_; }
  executor& where() const noexcept { return *executor_; }
  const actor_origin& origin() const noexcept { return origin_; }
  /// Returns the actor's object. The sender knows its type.
  void* object() const noexcept { return object_; }
  const detail::mailbox& mailbox() const noexcept { return mailbox_; }
  detail::exit_watchers& watchers() noexcept { return watchers_; }
  bool stopping() const noexcept { return orders_.stopping(); }
  bool ended() const noexcept { return orders_.ended(); }

  template <class Envelope, class... Args>
  refusal push(Args&&... args) {
    struct waker {
      actor_core* self;
      ~waker() {
        if (self) self->wake();
      }
    } always{this};  // publishes also the empty envelope that is sent if a constructor throws
    const refusal why = mailbox_.push<Envelope>(std::forward<Args>(args)...);
    if (why != refusal::none) always.self = nullptr;
    return why;
  }
  /// Sends a message that is never refused. It is discarded if the actor has ended.
  void push_system(std::unique_ptr<detail::system_message> message) noexcept;

  void stop(exit_kind kind) noexcept;
  void kill() noexcept;

  error explain(refusal why) const override;
  void add_ref() const noexcept final { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept final {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Counts a handle, which is a reference that can send. An actor without handles is stopped.
  void add_handle() noexcept {
    if (handles_.fetch_add(1, std::memory_order_relaxed) == 0) add_ref();
  }
  void drop_handle() noexcept;

  // --- from envelopes, see envelope.hpp ---
  /// Called when a handler has ended. Returns false if the actor was killed in the meantime: the caller must not touch
  /// it.
  bool handler_ended() noexcept;
  void release_message() noexcept;
  /// Continues the turn after a handler that was a task.
  void take_turn() noexcept;

  // --- from the actor's own handlers ---
  /// Ends the actor when the current handler has ended; queued messages are refused. Only the first call has an effect.
  void leave(exit_kind kind, const error* cause) noexcept;
  detail::child_list& children() noexcept { return children_; }

 protected:
  actor_core(void* object, std::string name, std::size_t capacity, executor& where, actor_origin origin);
  virtual ~actor_core();

  /// Begins to handle messages: the object has been constructed.
  void begin() noexcept;
  /// Ends the actor without an object: messages are refused.
  void begin_without_object(exit_kind kind, const error& why) noexcept;

  virtual void destroy_object() noexcept = 0;
  /// Makes the call of the `terminate` hook; null if the class has none.
  virtual std::unique_ptr<detail::envelope> make_terminate_call(const exit_reason& reason) = 0;

 private:
  enum class step_outcome : std::uint8_t { progress, nothing, gone };
  static constexpr std::uint32_t idle = 0, scheduled = 1;
  static constexpr unsigned turn_length = 64;

  static void run_job(job* self) noexcept;
  void wake() noexcept;
  bool pass_turn() noexcept;
  bool rest() noexcept;
  step_outcome step() noexcept;
  step_outcome run_handler() noexcept;

  void begin_exit(exit_kind kind, std::optional<error> cause = {}) noexcept;
  step_outcome exit_step() noexcept;
  step_outcome terminate() noexcept;
  void report_end() noexcept;
  void destroy_abandoned() noexcept;

  // Read by senders.
  std::atomic<std::uint32_t> schedule_{scheduled};
  mutable std::atomic<std::uint32_t> refs_{2};  // of the object, and of the turn in which it is constructed
  std::atomic<std::uint32_t> handles_{0};
  executor* const executor_;
  void* const object_;
  detail::system_queue system_;
  detail::mailbox mailbox_;
  detail::actor_orders orders_;

  // Only the turn's owner uses these.
  detail::actor_orders::snapshot seen_orders_;
  detail::current_message current_;
  bool has_object_ = true;
  detail::exit_progress exit_;

  const std::string name_;
  const std::uint64_t id_;
  const actor_origin origin_;
  detail::child_list children_;
  detail::exit_watchers watchers_;
};

}  // namespace troupe
