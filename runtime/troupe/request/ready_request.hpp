// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/request.hpp>
#include <troupe/request/request_refusal.hpp>

namespace troupe {

/// A request for one operation that is sent as a more general request, which its `to_request() const` makes. Users find
/// it under the operation's usual name; engines do not know it. It is described by TROUPE_REQUEST, sent by tell and
/// ask, and recorded like the general request; errors, faults and graphs show its own name and fields. The general
/// request is checked, unless the struct has a `check` of its own: see `checks_itself`.
template <class R>
concept ready_request = !request<R> && requires(const R& r) {
  { R::request_name } -> std::convertible_to<std::string_view>;
  R::request_fields;
  { r.to_request() } -> request;
};

template <class R>
concept any_request = request<R> || ready_request<R>;

/// The type that a ready request is sent as.
template <ready_request R>
using sent_as = decltype(std::declval<const R&>().to_request());

/// A ready request with a `check` of its own, which replaces the `check` of the general request. `to_request()` is
/// called for refused requests too, and may then return anything. If `to_request()` exchanges the first two operands,
/// define `exchanges_operands()`, which returns true then, so that errors exchange their names as well.
template <class R>
concept checks_itself = ready_request<R> && requires(const R& r, checker& c) { r.check(c); };

namespace detail {

/// A ready request and the general request that is sent for it. Error texts about the latter name fields of the former.
template <ready_request R>
struct ready_and_sent {
  const R& ready;
  const sent_as<R>& sent;

  /// Returns the request whose `check` is called.
  const auto& checked() const noexcept {
    if constexpr (checks_itself<R>)
      return ready;
    else
      return sent;
  }
};

template <class T>
inline constexpr bool is_ready_and_sent = false;
template <ready_request R>
inline constexpr bool is_ready_and_sent<ready_and_sent<R>> = true;

/// Returns the memory of the operand at this address; null if there is none.
template <class R>
const memory_range* range_at(const R& r, const void* place) {
  const memory_range* found = nullptr;
  R::visit_fields(r, [&](std::string_view, const auto&... f) {
    const auto look = [&]<class F>(const F& field) {
      if constexpr (operands_in<F>::any)
        operands_in<F>::visit(field, [&](const void* at, const memory_range& range, const auto&...) {
          if (at == place) found = &range;
        });
    };
    (look(f), ...);
  });
  return found;
}

/// Calls `f(name, place, range)` for each operand of a ready request. In a list, the name is like "weights[1].input".
template <ready_request R, class V>
void each_ready_operand(const R& ready, V&& f) {
  R::visit_fields(ready, [&](std::string_view names, const auto&... all) {
    std::size_t i = 0;
    const auto look = [&]<class F>(const F& field) {
      const std::string_view name = nth_name(names, i++);
      if constexpr (operands_in<F>::any)
        operands_in<F>::visit(field, [&](const void* at, const memory_range& range, const auto&...) {
          std::string whole(name);
          if constexpr (requires { operands_in<F>::text_of(field, at); }) whole += operands_in<F>::text_of(field, at);
          f(std::string_view(whole), at, range);
        });
    };
    (look(all), ...);
  });
}

/// Returns the name of the ready request's field for an operand of the general request: the field with the same memory,
/// or else one whose memory contains it.
template <ready_request R>
std::string ready_field_name(const void* both, const void* field) {
  const auto& [ready, sent] = *static_cast<const ready_and_sent<R>*>(both);
  if (std::string own = field_name<R>(&ready, field); own != "?") return own;
  const memory_range* const range = range_at(sent, field);
  std::string same, around;
  if (range != nullptr)
    each_ready_operand(ready, [&](std::string_view name, const void*, const memory_range& own) {
      const std::uint64_t begin = range->address - own.address;
      if (own.owner.get() != range->owner.get() || begin > own.bytes || range->bytes > own.bytes - begin) return;
      std::string& to = begin == 0 && own.bytes == range->bytes ? same : around;
      if (to.find(name) == std::string::npos) to.append(to.empty() ? "" : " and ").append(name);
    });
  return !same.empty() ? same : !around.empty() ? around : field_name<sent_as<R>>(&sent, field);
}

/// Returns the address of the field with this name, or of the operand with this name in a list; null if there is none.
template <ready_request R>
const void* find_ready_field(const void* both, std::string_view name) {
  const R& ready = static_cast<const ready_and_sent<R>*>(both)->ready;
  const void* out = nullptr;
  each_ready_operand(ready, [&](std::string_view own, const void* at, const memory_range&) {
    if (own == name) out = at;
  });
  R::visit_fields(ready, [&](std::string_view names, const auto&... f) {
    std::size_t i = 0;
    ((nth_name(names, i) == name ? void(out = &f) : void(), ++i), ...);
  });
  return out;
}

/// Returns the request whose `check` is called.
template <any_request R>
const R& checked_of(const R& r) noexcept {
  return r;
}
template <ready_request R>
const auto& checked_of(const ready_and_sent<R>& both) noexcept {
  return both.checked();
}
/// Returns an empty refusal that can name the request and its fields.
template <any_request R>
request_refusal refusal_of(const R& r) noexcept {
  return {&r, name_of<R>(), &field_name<R>};
}
template <ready_request R>
request_refusal refusal_of(const ready_and_sent<R>& both) noexcept {
  if constexpr (checks_itself<R>)
    return refusal_of(both.ready);
  else
    return {&both, name_of<R>(), &ready_field_name<R>, &find_ready_field<R>};
}

}  // namespace detail
}  // namespace troupe
