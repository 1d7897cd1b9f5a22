// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/ending/watch.hpp>
#include <troupe/actor/messages/send.hpp>

namespace troupe {

/// A counted, untyped reference that can send to the actor. The actor stops when the last one is destroyed.
class actor_handle {
 public:
  actor_handle() noexcept = default;
  explicit actor_handle(actor_core* core) noexcept : core_(core) {
    if (core_) core_->add_handle();
  }
  actor_handle(const actor_handle& o) noexcept : actor_handle(o.core_) {}
  actor_handle(actor_handle&& o) noexcept : core_(std::exchange(o.core_, nullptr)) {}
  actor_handle& operator=(actor_handle o) noexcept {
    std::swap(core_, o.core_);
    return *this;
  }
  ~actor_handle() {
    if (core_) core_->drop_handle();
  }

  actor_core* get() const noexcept { return core_; }
  actor_core* operator->() const noexcept { return core_; }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  actor_core* core_ = nullptr;
};

/// A reference to an actor of class A. Cheap to copy, thread-safe like a `std::shared_ptr`, and never dangling: after
/// the actor has ended, messages are refused with `stopped`. When the last reference is destroyed, the actor is stopped
/// as by `stop`; stages, parents and supervisors hold references of their own.
template <class A>
class actor_ref {
 public:
  using actor_type = A;

  actor_ref() noexcept = default;
  explicit actor_ref(actor_handle handle) noexcept : handle_(std::move(handle)) {}

  /// Sends a message. The actor handles it after all messages that this thread has sent to it before. If it is refused,
  /// the caller's object is unchanged. Does not allocate for messages of up to 48 bytes, unless their handler is a
  /// task.
  template <class M>
  accepted tell(M&& message) const {
    return detail::tell_to<A>(handle_.get(), std::forward<M>(message), refused());
  }

  /// Sends a message and returns a pending of the handler's answer. The pending is answered exactly once: with the
  /// error of `accepted` if the message is refused, and with `stopped` or the error of the crash if the actor ends
  /// first.
  template <class M>
  auto ask(M&& message) const {
    return detail::ask_of<A>(handle_.get(), std::forward<M>(message), refused());
  }

  /// Stops the actor in an orderly way: later messages are refused and earlier ones handled; then `terminate` is
  /// called, children are stopped, the object is destroyed on its executor, and the pending is answered. The actor
  /// itself must not wait for the pending.
  pending<void> stop() const {
    return handle_ ? detail::stop_and_wait(*handle_.get(), exit_kind::normal) : make_ready<void>(empty_reference());
  }
  /// Ends the actor at once: asks are answered with `stopped` and watchers are notified. Does not wait for a running
  /// handler: if it is a task, it is asked to stop, and the object is destroyed when the handler has ended.
  void kill() const noexcept {
    if (handle_) handle_->kill();
  }
  /// Returns a pending that is answered when the actor has ended, or at once if it already has. Cancelling the pending
  /// ends the watch.
  pending<exit_reason> watch() const {
    return handle_ ? detail::watch(*handle_.get()) : make_ready<exit_reason>(empty_reference());
  }

  /// Precondition of this and the following functions: the reference is not empty.
  const std::string& name() const noexcept { return handle_->name(); }
  std::uint64_t id() const noexcept { return handle_->id(); }
  /// Return the number of messages that wait or are being handled now, and the maximum that the mailbox holds.
  std::size_t queued() const noexcept { return handle_->mailbox().size(); }
  std::size_t capacity() const noexcept { return handle_->mailbox().capacity(); }
  bool ended() const noexcept { return handle_->ended(); }

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  friend bool operator==(const actor_ref& a, const actor_ref& b) noexcept { return a.handle_.get() == b.handle_.get(); }

  const actor_handle& handle() const noexcept { return handle_; }

 private:
  auto refused() const noexcept {
    return [this](refusal why) { return accepted(why, handle_.get()); };
  }

  actor_handle handle_;
};

}  // namespace troupe
