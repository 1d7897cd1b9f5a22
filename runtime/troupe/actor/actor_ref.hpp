// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/calls.hpp>

namespace troupe {

/// Counts as one who can send to the actor. An actor that nobody can send to any more stops by itself.
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

/// Refers to an actor of class A. Cheap to copy, thread safe like a `std::shared_ptr`, and never dangles: when the
/// actor has ended, messages are refused with `stopped`. When the last reference is gone the actor is stopped as by
/// `stop`; stages, parents and supervisors hold a reference of their own.
template <class A>
class actor_ref {
 public:
  using actor_type = A;

  actor_ref() noexcept = default;
  explicit actor_ref(actor_handle handle) noexcept : handle_(std::move(handle)) {}

  /// Sends a message. It is handled after everything this thread has sent the actor before. A refused message is left
  /// untouched in the caller's hands. No allocation for messages of up to 48 bytes, unless their handler is a task.
  template <class M>
  accepted tell(M&& message) const {
    return detail::tell_to<A>(handle_.get(), std::forward<M>(message), refused());
  }

  /// The same, and what the handler returns comes back. Answered exactly once whatever happens: with the error of
  /// `accepted` when it was refused, with `stopped` or the error of the crash when the actor ends before.
  template <class M>
  auto ask(M&& message) const {
    return detail::ask_of<A>(handle_.get(), std::forward<M>(message), refused());
  }

  /// Orderly: later messages are refused, earlier ones handled, then `terminate` is called, children are stopped, the
  /// object is destroyed on its executor, and the pending is answered. Never wait for it inside the actor itself.
  pending<void> stop() const {
    return handle_ ? handle_->stop_and_wait(exit_kind::normal) : make_ready<void>(empty_reference());
  }
  /// At once: everybody who asked is answered with `stopped`, watchers are told. A handler that runs is not waited
  /// for: its task is asked to stop, and the object is destroyed when it has returned.
  void kill() const noexcept {
    if (handle_) handle_->kill();
  }
  /// Answered when the actor has ended, at once if it has. Cancelling it gives up watching.
  pending<exit_reason> watch() const { return handle_ ? handle_->watch() : make_ready<exit_reason>(empty_reference()); }

  /// Only of a reference that is not empty, like what follows.
  const std::string& name() const noexcept { return handle_->name(); }
  std::uint64_t id() const noexcept { return handle_->id(); }
  /// Messages waiting or being handled at this moment, and how many are taken at most.
  std::size_t queued() const noexcept { return handle_->queued(); }
  std::size_t capacity() const noexcept { return handle_->capacity(); }
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
