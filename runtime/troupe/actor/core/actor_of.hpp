// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <troupe/actor/actor_context.hpp>

namespace troupe::detail {

template <class A>
constexpr std::string_view class_name() noexcept {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // ... [with A = ns::counter; ...] or [A = ns::counter]
  constexpr auto from = text.find("A = ") + 4;
  constexpr auto full = text.substr(from, text.find_first_of(";]", from) - from);
  return full.substr(full.rfind(':') + 1);
}

/// An actor and its object in one block of memory.
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
      begin_without_object(exit_kind::crashed, from_current_exception("actor"));
      throw;
    }
    begin();
  }
  /// Ends the actor without constructing an object. Called instead of `build`.
  void build_nothing(const error& why) noexcept { begin_without_object(exit_kind::shutdown, why); }

 private:
  void destroy_object() noexcept override { std::destroy_at(std::launder(reinterpret_cast<A*>(storage_))); }
  std::unique_ptr<envelope> make_terminate_call([[maybe_unused]] const exit_reason& reason) override {
    if constexpr (has_terminate<A>) {
      return std::make_unique<telling<A, terminate_message>>(terminate_message{reason});
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

}  // namespace troupe::detail
