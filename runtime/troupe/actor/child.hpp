// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/actor/actor_context.hpp>
#include <troupe/actor/supervision/restart.hpp>
#include <troupe/actor/supervision/shutdown_policy.hpp>
#include <troupe/base/containers/placed.hpp>
#include <troupe/base/containers/text.hpp>

namespace troupe {

/// One incarnation of a supervised child. Implement this interface to supervise something other than a C++ actor. All
/// functions must be thread-safe and must not block.
class child_handle {
 public:
  virtual ~child_handle() = default;
  /// Returns a pending that is answered when the child is ready; then the next sibling is started. An error means that
  /// the start has failed.
  virtual pending<void> started() { return make_ready<void>({}); }
  /// Returns a new pending for each call. It is answered when the child has ended.
  virtual pending<exit_reason> watch() = 0;
  /// Begins an orderly stop.
  virtual void stop() noexcept = 0;
  /// Ends the child at once.
  virtual void kill() noexcept = 0;
};

/// A message that a child may handle, returning `void`, `result<void>` or a task of these. The next sibling is started
/// when the child has answered it; an error means that the start has failed.
struct await_start {};

/// The state that a `supervised_ref` shares with the supervisor: see supervised.hpp.
class child_slot;

/// Starts the incarnations of one child.
class child_starter {
 public:
  virtual ~child_starter() = default;
  /// Starts the next incarnation, for the supervisor whose actor id is `owner`. Must not block. Spawn actors with
  /// `from`, so that they run where the supervisor's children run.
  virtual result<std::shared_ptr<child_handle>> start(const spawner& from, std::uint64_t owner) = 0;
  /// Called when the supervisor `owner` will start no further incarnation unless a command requests one.
  virtual void retire([[maybe_unused]] std::uint64_t owner) noexcept {}
  /// Returns the slot in which the child is found by its id; null for children that are not actors.
  virtual child_slot* slot() noexcept { return nullptr; }
};

namespace detail {

/// A running actor in the form in which a supervisor handles children.
class actor_child : public child_handle {
 public:
  explicit actor_child(actor_handle actor) noexcept : actor_(std::move(actor)) {}
  pending<exit_reason> watch() override { return detail::watch(*actor_.get()); }
  void stop() noexcept override { actor_->stop(exit_kind::shutdown); }
  void kill() noexcept override { actor_->kill(); }

 private:
  actor_handle actor_;
};

template <class A>
class typed_actor_child final : public actor_child {
 public:
  explicit typed_actor_child(actor_ref<A> actor) noexcept : actor_child(actor.handle()), actor_(std::move(actor)) {}
  pending<void> started() override {
    if constexpr (handles<A, await_start>) {
      return actor_.ask(await_start{});
    } else {
      return make_ready<void>({});
    }
  }

 private:
  actor_ref<A> actor_;
};

template <class A>
result<std::shared_ptr<child_handle>> as_child(actor_ref<A> actor) {
  return std::shared_ptr<child_handle>(std::make_shared<typed_actor_child<A>>(std::move(actor)));
}
template <class H>
  requires std::is_convertible_v<H, std::shared_ptr<child_handle>>
result<std::shared_ptr<child_handle>> as_child(H handle) {
  return std::shared_ptr<child_handle>(std::move(handle));
}
template <class X>
result<std::shared_ptr<child_handle>> as_child(result<X> made) {
  if (!made) return made.error();
  return as_child(*std::move(made));
}

}  // namespace detail

/// Starts a child: a callable that takes a `const spawner&` or nothing. It returns an `actor_ref`, a smart pointer to a
/// `child_handle`, or a result of these. An exception counts as an error.
class child_start {
 public:
  child_start(std::shared_ptr<child_starter> starter) noexcept : starter_(std::move(starter)) {}
  template <class F>
    requires(std::is_invocable_v<F&, const spawner&> || std::is_invocable_v<F&>)
  child_start(F f) : starter_(std::shared_ptr<child_starter>(std::make_shared<callable<F>>(std::move(f)))) {}

  child_starter& operator*() const noexcept { return **starter_; }
  child_starter* operator->() const noexcept { return starter_->get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(*starter_); }

 private:
  template <class F>
  struct callable final : child_starter {
    explicit callable(F f) : function(std::move(f)) {}
    result<std::shared_ptr<child_handle>> start(const spawner& from, std::uint64_t) override {
      if constexpr (std::is_invocable_v<F&, const spawner&>) {
        return detail::as_child(function(from));
      } else {
        return detail::as_child(function());
      }
    }
    F function;
  };
  placed<std::shared_ptr<child_starter>> starter_;
};

enum class child_type : std::uint8_t { worker, supervisor };

/// The specification of a child.
struct child_spec {
  text id;  ///< unique among its siblings
  child_start start;
  enum restart restart = restart::permanent;
  shutdown_policy shutdown = {};  ///< or a duration, `brutal_kill()`, `infinity()`
  child_type type = child_type::worker;
};

}  // namespace troupe
