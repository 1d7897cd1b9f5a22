// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <algorithm>: functions that do not modify elements.
#pragma once
#include "iterators.h"
#include "operations.h"
#include "pair.h"

namespace std {

template <class I, class F>
constexpr F for_each(I first, I last, F f) {
  for (; first != last; ++first) f(*first);
  return f;
}
template <class I, class N, class F>
constexpr I for_each_n(I first, N n, F f) {
  for (; n > 0; --n, ++first) f(*first);
  return first;
}
template <class I, class F>
constexpr I find_if(I first, I last, F wanted) {
  while (first != last && !wanted(*first)) ++first;
  return first;
}
template <class I, class F>
constexpr I find_if_not(I first, I last, F unwanted) {
  while (first != last && unwanted(*first)) ++first;
  return first;
}
template <class I, class T>
constexpr I find(I first, I last, const T& value) {
  while (first != last && !(*first == value)) ++first;
  return first;
}
template <class I, class J>
constexpr I find_first_of(I first, I last, J begin, J end) {
  for (; first != last; ++first)
    if (find(begin, end, *first) != end) break;
  return first;
}
template <class I, class F = equal_to<>>
constexpr I adjacent_find(I first, I last, F same = {}) {
  if (first == last) return last;
  for (I after = next(first); after != last; ++first, ++after)
    if (same(*first, *after)) return first;
  return last;
}
template <class I, class F>
constexpr bool all_of(I first, I last, F f) {
  return find_if_not(first, last, f) == last;
}
template <class I, class F>
constexpr bool any_of(I first, I last, F f) {
  return find_if(first, last, f) != last;
}
template <class I, class F>
constexpr bool none_of(I first, I last, F f) {
  return find_if(first, last, f) == last;
}
template <class I, class F>
constexpr iter_difference_t<I> count_if(I first, I last, F f) {
  iter_difference_t<I> n = 0;
  for (; first != last; ++first) n += f(*first) ? 1 : 0;
  return n;
}
template <class I, class T>
constexpr iter_difference_t<I> count(I first, I last, const T& value) {
  iter_difference_t<I> n = 0;
  for (; first != last; ++first) n += *first == value ? 1 : 0;
  return n;
}
template <class I, class J>
constexpr bool equal(I first, I last, J other) {
  for (; first != last; ++first, ++other)
    if (!(*first == *other)) return false;
  return true;
}
template <class I, class J, class F, class = enable_if_t<!is_same_v<J, F>>>
constexpr bool equal(I first, I last, J other, F same) {
  for (; first != last; ++first, ++other)
    if (!same(*first, *other)) return false;
  return true;
}
template <class I, class J>
constexpr bool equal(I first, I last, J other, J end) {
  for (; first != last && other != end; ++first, ++other)
    if (!(*first == *other)) return false;
  return first == last && other == end;
}
template <class I, class J, class F = equal_to<>>
constexpr pair<I, J> mismatch(I first, I last, J other, F same = {}) {
  for (; first != last && same(*first, *other); ++first) ++other;
  return pair<I, J>(first, other);
}
template <class I, class J, class F = less<>>
constexpr bool lexicographical_compare(I first, I last, J other, J end, F less = {}) {
  for (; first != last && other != end; ++first, ++other) {
    if (less(*first, *other)) return true;
    if (less(*other, *first)) return false;
  }
  return first == last && other != end;
}
template <class I, class J, class F = equal_to<>>
constexpr I search(I first, I last, J begin, J end, F same = {}) {
  for (;; ++first) {
    I at = first;
    for (J wanted = begin;; ++at, ++wanted) {
      if (wanted == end) return first;
      if (at == last) return last;
      if (!same(*at, *wanted)) break;
    }
  }
}

// For sorted ranges.
template <class I, class T, class F = less<>>
constexpr I lower_bound(I first, I last, const T& value, F less = {}) {
  for (auto n = distance(first, last); n > 0;) {
    const auto half = n / 2;
    const I middle = next(first, half);
    if (less(*middle, value)) {
      first = next(middle);
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}
template <class I, class T, class F = less<>>
constexpr I upper_bound(I first, I last, const T& value, F less = {}) {
  for (auto n = distance(first, last); n > 0;) {
    const auto half = n / 2;
    const I middle = next(first, half);
    if (less(value, *middle)) {
      n = half;
    } else {
      first = next(middle);
      n -= half + 1;
    }
  }
  return first;
}
template <class I, class T, class F = less<>>
constexpr pair<I, I> equal_range(I first, I last, const T& value, F less = {}) {
  return pair<I, I>(lower_bound(first, last, value, less), upper_bound(first, last, value, less));
}
template <class I, class T, class F = less<>>
constexpr bool binary_search(I first, I last, const T& value, F less = {}) {
  first = lower_bound(first, last, value, less);
  return first != last && !less(value, *first);
}
template <class I, class F = less<>>
constexpr I is_sorted_until(I first, I last, F less = {}) {
  if (first == last) return last;
  for (I before = first++; first != last; before = first++)
    if (less(*first, *before)) return first;
  return last;
}
template <class I, class F = less<>>
constexpr bool is_sorted(I first, I last, F less = {}) {
  return is_sorted_until(first, last, less) == last;
}
template <class I, class F>
constexpr bool is_partitioned(I first, I last, F f) {
  return none_of(find_if_not(first, last, f), last, f);
}

}  // namespace std
