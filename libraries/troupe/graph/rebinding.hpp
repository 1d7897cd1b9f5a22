// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <troupe/kernel/arguments.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <vector>

namespace troupe::graph {

/// Moves accesses from one buffer to another: a range within `from` becomes the range at the same offset in `to`.
struct rebinding {
  memory_range from, to;

  enum class how : std::uint8_t { not_concerned, moves, straddles };
  how concerns(const memory_range& r) const noexcept {
    if (r.owner.get() != from.owner.get() || r.address >= from.address + from.bytes ||
        r.address + r.bytes <= from.address)
      return how::not_concerned;
    const bool inside = r.address >= from.address && r.address + r.bytes <= from.address + from.bytes;
    return inside ? how::moves : how::straddles;
  }
  memory_range moved(const memory_range& r) const {
    return {to.owner, to.address + (r.address - from.address), r.bytes};
  }
};

namespace detail {

inline bool move_field(memory_range& to, const memory_range& range, const rebinding& r, bool& straddles) {
  const auto how = r.concerns(range);
  straddles |= how == rebinding::how::straddles;
  if (how != rebinding::how::moves) return false;
  to = r.moved(range);
  return true;
}

/// Moves the operands of one field. Returns true if any has moved. Sets `wrong` to the reason if one cannot be moved.
template <class T, access_mode M>
bool rebind_field(operand<T, M>& f, const rebinding& r, std::string& wrong) {
  memory_range to;
  bool straddles = false;
  const bool moves = move_field(to, f.range(), r, straddles);
  if (straddles) wrong = "lies only partly in the buffer that is replaced";
  if (moves) f = operand<T, M>(std::move(to));
  return moves;
}
template <class T, access_mode M>
bool rebind_field(std::optional<operand<T, M>>& f, const rebinding& r, std::string& wrong) {
  return f && rebind_field(*f, r, wrong);
}
template <class T, access_mode M>
bool rebind_field(std::vector<operand<T, M>>& f, const rebinding& r, std::string& wrong) {
  bool any = false;
  for (auto& o : f) any |= rebind_field(o, r, wrong);
  return any;
}
template <class T, access_mode M, class View, class Shape>
bool rebind_field(view_operand<T, M, View, Shape>& f, const rebinding& r, std::string& wrong) {
  operand<T, M> memory = f;
  if (!rebind_field(memory, r, wrong)) return false;
  f = {std::move(memory), f.shape()};
  return true;
}
template <class T>
bool rebind_field(scalar<T>& f, const rebinding& r, std::string& wrong) {
  if (f.by_value()) return false;
  memory_range to;
  bool straddles = false;
  const bool moves = move_field(to, f.range(), r, straddles);
  if (straddles) wrong = "lies only partly in the buffer that is replaced";
  if (moves) f = scalar<T>(std::move(to));
  return moves;
}
/// Moves the operands of a field that has operands of several types.
template <class F>
  requires requires(F& f) { f.visit_memory([](memory_range&) {}); }
bool rebind_field(F& f, const rebinding& r, std::string& wrong) {
  bool any = false, straddles = false;
  f.visit_memory([&](memory_range& range) {
    memory_range to;
    if (!move_field(to, range, r, straddles)) return;
    range = std::move(to);
    any = true;
  });
  if (straddles) wrong = "lies only partly in the buffer that is replaced";
  return any;
}
template <class F>
  requires requires(F& f) { f.visit_memory([](memory_range&) {}); }
bool rebind_field(std::optional<F>& f, const rebinding& r, std::string& wrong) {
  return f && rebind_field(*f, r, wrong);
}
inline bool rebind_field(kernel::arguments& f, const rebinding& r, std::string& wrong) {
  bool any = false, straddles = false;
  std::vector<kernel::argument> list = f.list();
  for (kernel::argument& a : list) {
    memory_range to;
    for (const kernel::held_buffer& h : a.held())
      if (r.concerns(h.range) != rebinding::how::not_concerned)
        wrong = "hold an address of the buffer inside a struct; use set() with the new request";
    if (!a.has_memory() || !move_field(to, a.range(), r, straddles)) continue;
    a = a.at(std::move(to));
    any = true;
  }
  if (straddles) wrong = "hold a buffer that lies only partly in the buffer that is replaced";
  if (any) f = kernel::arguments(std::move(list));
  return any;
}
template <class F>
bool rebind_field(F& f, const rebinding& r, std::string& wrong) {
  if constexpr (operands_in<F>::any && !std::derived_from<F, kernel::program> && !std::derived_from<F, kernel::symbol>)
    operands_in<F>::visit(f, [&](const void*, const memory_range& range, const auto&...) {
      if (r.concerns(range) != rebinding::how::not_concerned)
        wrong = "has a type that cannot be moved; use set() with the new request";
    });
  return false;
}
template <field_group G>
bool rebind_field(G& group, const rebinding& r, std::string& wrong) {
  bool any = false;
  G::visit_fields(group, [&](std::string_view, auto&... f) { ((any |= detail::rebind_field(f, r, wrong)), ...); });
  return any;
}

}  // namespace detail

}  // namespace troupe::graph
