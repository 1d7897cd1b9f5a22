// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <algorithm>: functions that modify elements.
#pragma once
#include "algorithms_non_modifying.h"

namespace std {

template <class I, class J>
constexpr void iter_swap(I a, J b) {
  ::troupe_device::lookup::exchange_with(*a, *b);
}
template <class I, class J>
constexpr J swap_ranges(I first, I last, J other) {
  for (; first != last; ++first, ++other) std::iter_swap(first, other);
  return other;
}
template <class I, class O>
constexpr O copy(I first, I last, O to) {
  for (; first != last; ++first, ++to) *to = *first;
  return to;
}
template <class I, class N, class O>
constexpr O copy_n(I first, N n, O to) {
  for (; n > 0; --n, ++first, ++to) *to = *first;
  return to;
}
template <class I, class O, class F>
constexpr O copy_if(I first, I last, O to, F wanted) {
  for (; first != last; ++first)
    if (wanted(*first)) *to++ = *first;
  return to;
}
template <class I, class O>
constexpr O copy_backward(I first, I last, O end) {
  while (first != last) *--end = *--last;
  return end;
}
template <class I, class O>
constexpr O move(I first, I last, O to) {
  for (; first != last; ++first, ++to) *to = static_cast<remove_reference_t<decltype(*first)>&&>(*first);
  return to;
}
template <class I, class T>
constexpr void fill(I first, I last, const T& value) {
  for (; first != last; ++first) *first = value;
}
template <class I, class N, class T>
constexpr I fill_n(I first, N n, const T& value) {
  for (; n > 0; --n, ++first) *first = value;
  return first;
}
template <class I, class F>
constexpr void generate(I first, I last, F f) {
  for (; first != last; ++first) *first = f();
}
template <class I, class N, class F>
constexpr I generate_n(I first, N n, F f) {
  for (; n > 0; --n, ++first) *first = f();
  return first;
}
template <class I, class O, class F>
constexpr O transform(I first, I last, O to, F f) {
  for (; first != last; ++first, ++to) *to = f(*first);
  return to;
}
template <class I, class J, class O, class F>
constexpr O transform(I first, I last, J other, O to, F f) {
  for (; first != last; ++first, ++other, ++to) *to = f(*first, *other);
  return to;
}
template <class I, class F, class T>
constexpr void replace_if(I first, I last, F wanted, const T& with) {
  for (; first != last; ++first)
    if (wanted(*first)) *first = with;
}
template <class I, class T>
constexpr void replace(I first, I last, const T& value, const T& with) {
  for (; first != last; ++first)
    if (*first == value) *first = with;
}
template <class I, class F>
constexpr I remove_if(I first, I last, F unwanted) {
  I to = first;
  for (; first != last; ++first) {
    if (unwanted(*first)) continue;
    if (to != first) *to = static_cast<remove_reference_t<decltype(*first)>&&>(*first);
    ++to;
  }
  return to;
}
template <class I, class T>
constexpr I remove(I first, I last, const T& value) {
  return remove_if(first, last, [&](const auto& x) { return x == value; });
}
template <class I, class F = equal_to<>>
constexpr I unique(I first, I last, F same = {}) {
  if (first == last) return last;
  I to = first;
  while (++first != last)
    if (!same(*to, *first) && ++to != first) *to = static_cast<remove_reference_t<decltype(*first)>&&>(*first);
  return ++to;
}
template <class I>
constexpr void reverse(I first, I last) {
  while (first != last && first != --last) std::iter_swap(first++, last);
}
template <class I>
constexpr I rotate(I first, I middle, I last) {
  const auto behind = distance(middle, last);
  std::reverse(first, middle);
  std::reverse(middle, last);
  std::reverse(first, last);
  return next(first, behind);
}
template <class I, class F>
constexpr I partition(I first, I last, F f) {
  first = find_if_not(first, last, f);
  for (I at = first; at != last; ++at)
    if (f(*at)) std::iter_swap(at, first++);
  return first;
}
template <class I, class J, class O, class F = less<>>
constexpr O merge(I first, I last, J other, J end, O to, F less = {}) {
  while (first != last && other != end) *to++ = less(*other, *first) ? *other++ : *first++;
  return copy(other, end, copy(first, last, to));
}

}  // namespace std
