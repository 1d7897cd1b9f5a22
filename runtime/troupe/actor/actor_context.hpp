// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/actor/actor_ref.hpp>
#include <troupe/actor/messages/pipe.hpp>
#include <troupe/async/executor.hpp>
#include <troupe/base/containers/text.hpp>

namespace troupe {

/// A reference to an executor, or to none. The executor must outlive it.
class executor_ref {
 public:
  executor_ref() noexcept = default;
  executor_ref(executor& where) noexcept : where_(&where) {}
  executor* get() const noexcept { return where_; }

 private:
  executor* where_ = nullptr;
};

/// Options of an actor's spawn.
struct actor_options {
  std::size_t mailbox = 1024;  ///< maximum number of messages, including the one being handled; 64 bytes each
  /// Runs the handlers; must outlive the actor. The default is the executor of the parent or the stage; without either,
  /// handlers run on the sender's thread.
  executor_ref on = {};
  text name = {};  ///< for error texts; the default is the name of the class
};

namespace detail {
template <class A, class... Args>
actor_ref<A> spawn_at(actor_origin origin, actor_options options, Args&&... args);
}  // namespace detail

/// Spawns actors for code that has a stage or an actor to spawn from. Cheap to copy.
class spawner {
 public:
  spawner() noexcept = default;
  explicit spawner(actor_origin origin) noexcept : origin_(std::move(origin)) {}

  template <class B, class... Args>
  actor_ref<B> spawn(actor_options options, Args&&... args) const {
    return detail::spawn_at<B>(origin_, std::move(options), std::forward<Args>(args)...);
  }
  const actor_origin& origin() const noexcept { return origin_; }

 private:
  actor_origin origin_;
};

/// The operations of an actor of class A on itself. Use it only in the actor's constructor, handlers and tasks. It
/// lives as long as the actor's object.
template <class A>
class actor_context {
 public:
  explicit actor_context(actor_core& core) noexcept : core_(core) {}
  actor_context(const actor_context&) = delete;

  actor_ref<A> self() const noexcept { return actor_ref<A>(actor_handle(&core_)); }
  const std::string& name() const noexcept { return core_.name(); }
  std::uint64_t id() const noexcept { return core_.id(); }
  executor& where() const noexcept { return core_.where(); }
  /// Returns the stage's clock; null if the actor was spawned without a stage.
  alarm_clock* clock() const noexcept { return core_.origin().clock; }

  /// Ends the actor when it has handled the messages that are queued now.
  void stop() noexcept { core_.stop(exit_kind::normal); }
  /// Returns true if a stop or kill was ordered.
  bool stopping() const noexcept { return core_.stopping(); }
  /// Ends the actor when the current handler, which can be a task, has ended; queued messages are refused. Call it in
  /// the constructor and in handlers. A task that runs beside the handlers, because the actor only started it, must
  /// send the actor a message instead.
  void leave(exit_kind kind = exit_kind::normal) noexcept { core_.leave(kind, nullptr); }
  void leave(exit_kind kind, const error& cause) noexcept { core_.leave(kind, &cause); }

  /// Spawns a child. However this actor ends, its children are stopped first, youngest first, and only then is its own
  /// end reported. The end of a child has no effect on this actor unless it watches the child; a `supervisor` restarts
  /// children.
  template <class B, class... Args>
  actor_ref<B> spawn(actor_options options, Args&&... args) {
    auto child = spawner().template spawn<B>(std::move(options), std::forward<Args>(args)...);
    core_.children().adopt(*child.handle().get());
    return child;
  }
  /// Returns a spawner of actors that do not end with this one. They use the same executor and stage.
  troupe::spawner spawner() const {
    actor_origin origin = core_.origin();
    origin.where = &core_.where();
    return troupe::spawner(std::move(origin));
  }

  /// Sends `down` to this actor when `other` has ended. This message is never refused. If the reference is empty, the
  /// kind of the end is `crashed`, with the cause.
  template <class B>
  void watch(const actor_ref<B>& other) {
    static_assert(handles<A, down>, "the actor class needs a handle(down) to watch others");
    pipe(other.watch(), [](result<exit_reason> r) {
      if (r) return down{*std::move(r)};
      return down{exit_reason{.kind = exit_kind::crashed, .actor = "empty reference", .cause = r.error()}};
    });
  }

  /// Sends `f(result<T>)` to this actor when the pending is answered. The message is handled before those in the
  /// mailbox and never refused. So the actor handles other messages while it waits. The pending is cancelled when the
  /// actor ends.
  template <class T, class F>
  void pipe(pending<T> source, F f) {
    detail::pipe_to<A>(core_, std::move(source), std::move(f));
  }

 private:
  actor_core& core_;
};

}  // namespace troupe

#include <troupe/actor/core/actor_of.hpp>
