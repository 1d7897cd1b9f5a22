// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <troupe/actor/actor_options.hpp>
#include <troupe/actor/actor_ref.hpp>
#include <troupe/actor/pipe.hpp>

namespace troupe {

template <class A>
class actor_context;

namespace detail {
template <class A, class... Args>
actor_ref<A> spawn_at(actor_origin origin, actor_options options, Args&&... args);
}  // namespace detail

/// A place to spawn actors from, for code that does not know whether that is a stage or an actor. Cheap to copy.
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

/// What an actor of class A may do as itself. Only from its constructor, handlers and tasks; lives as long as it.
template <class A>
class actor_context {
 public:
  explicit actor_context(actor_core& core) noexcept : core_(core) {}
  actor_context(const actor_context&) = delete;

  actor_ref<A> self() const noexcept { return actor_ref<A>(actor_handle(&core_)); }
  const std::string& name() const noexcept { return core_.name(); }
  std::uint64_t id() const noexcept { return core_.id(); }
  executor& where() const noexcept { return core_.where(); }
  /// The stage's clock; null for actors spawned without one.
  alarm_clock* clock() const noexcept { return core_.origin().clock; }

  /// Ends when what is queued now has been handled.
  void stop() noexcept { core_.stop(exit_kind::normal); }
  /// A stop or kill was ordered.
  bool stopping() const noexcept { return core_.stopping(); }
  /// Ends after the current handler, which may be a task; what is queued is refused. For the constructor and handlers:
  /// a task that the actor has merely started runs beside them, and tells the actor instead.
  void leave(exit_kind kind = exit_kind::normal) noexcept { core_.leave(kind, nullptr); }
  void leave(exit_kind kind, const error& cause) noexcept { core_.leave(kind, &cause); }

  /// Spawns a child: when this actor ends, in whatever way, its children are stopped, youngest first, before its own
  /// end is reported. The child's end is not noticed unless it is watched; a `supervisor` restarts.
  template <class B, class... Args>
  actor_ref<B> spawn(actor_options options, Args&&... args) {
    auto child = spawner().template spawn<B>(std::move(options), std::forward<Args>(args)...);
    core_.adopt_child(*child.handle().get());
    return child;
  }
  /// For actors that are not to end with this one: same executor, same stage.
  troupe::spawner spawner() const {
    actor_origin origin = core_.origin();
    origin.where = &core_.where();
    return troupe::spawner(std::move(origin));
  }

  /// Sends `down` to this actor when the other one has ended. Cannot be refused. Of an empty reference it says
  /// `crashed`, with the cause.
  template <class B>
  void watch(const actor_ref<B>& other) {
    static_assert(handles<A, down>, "the actor class needs a handle(down) to watch others");
    pipe(other.watch(), [](result<exit_reason> r) {
      return down{r ? *std::move(r) : exit_reason{.kind = exit_kind::crashed, .actor = "nobody", .cause = r.error()}};
    });
  }

  /// Sends `f(result<T>)` to this actor when the answer comes, ahead of the mailbox; never refused. This is how an
  /// actor waits without being busy. The pending is cancelled when the actor ends.
  template <class T, class F>
  void pipe(pending<T> source, F f) {
    detail::pipe_to<A>(core_, std::move(source), std::move(f));
  }

 private:
  actor_core& core_;
};

namespace detail {

template <class A>
constexpr std::string_view class_name() noexcept {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // ... [with A = ns::counter; ...] or [A = ns::counter]
  constexpr auto from = text.find("A = ") + 4;
  constexpr auto full = text.substr(from, text.find_first_of(";]", from) - from);
  return full.substr(full.rfind(':') + 1);
}

/// Core and object in one block.
template <class A>
class actor_of final : public actor_core {
 public:
  actor_of(std::string name, std::size_t capacity, executor& where, actor_origin origin)
      : actor_core(storage_, std::move(name), capacity, where, std::move(origin)), context_(*this) {}

  template <class... Args>
  void build(Args&&... args) {
    try {
      if constexpr (std::is_constructible_v<A, actor_context<A>&, Args...>) {
        ::new (storage_) A(context_, std::forward<Args>(args)...);
      } else {
        ::new (storage_) A(std::forward<Args>(args)...);
      }
    } catch (...) {
      begin_without_body(exit_kind::crashed, from_current_exception("actor"));
      throw;
    }
    begin();
  }
  /// Instead of `build`: an actor that has ended.
  void build_nothing(const error& why) noexcept { begin_without_body(exit_kind::shutdown, why); }

 private:
  A* object() noexcept { return std::launder(reinterpret_cast<A*>(storage_)); }
  void destroy_body() noexcept override { std::destroy_at(object()); }
  std::unique_ptr<envelope> make_farewell([[maybe_unused]] const exit_reason& reason) override {
    if constexpr (has_terminate<A>) {
      return std::make_unique<telling<A, farewell>>(farewell{reason});
    } else {
      static_assert(!has_other_terminate<A>, "terminate takes an exit_reason, and nothing else");
      return nullptr;
    }
  }

  actor_context<A> context_;
  alignas(A) std::byte storage_[sizeof(A)];
};

template <class A, class... Args>
actor_ref<A> spawn_at(actor_origin origin, actor_options options, Args&&... args) {
  executor* where = options.on.get() ? options.on.get() : origin.where;
  if (!where) where = &inline_executor();
  if (options.name.empty()) options.name = class_name<A>();
  auto* const core = new actor_of<A>(std::move(options.name), options.mailbox, *where, std::move(origin));
  actor_ref<A> handle{actor_handle(core)};
  if (core->origin().closed) {
    core->build_nothing(detail::closed_stage());
  } else {
    core->build(std::forward<Args>(args)...);
  }
  return handle;
}

}  // namespace detail
}  // namespace troupe
