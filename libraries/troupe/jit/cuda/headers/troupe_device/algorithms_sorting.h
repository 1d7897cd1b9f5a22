// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <algorithm>: heaps and sorting, in place.
#pragma once
#include "algorithms_modifying.h"

namespace troupe_device {

template <class I, class N, class F>
constexpr void sink(I first, N at, N n, F& less) {
  for (N child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && less(first[child], first[child + 1])) ++child;
    if (!less(first[at], first[child])) return;
    std::iter_swap(first + at, first + child);
    at = child;
  }
}
template <class I, class F>
constexpr void insertion_sort(I first, I last, F& less) {
  if (first == last) return;
  for (I at = std::next(first); at != last; ++at) {
    auto value = static_cast<std::remove_reference_t<decltype(*at)>&&>(*at);
    I to = at;
    for (; to != first && less(value, *std::prev(to)); --to)
      *to = static_cast<std::remove_reference_t<decltype(*at)>&&>(*std::prev(to));
    *to = static_cast<decltype(value)&&>(value);
  }
}

}  // namespace troupe_device

namespace std {

template <class I, class F = less<>>
constexpr void make_heap(I first, I last, F less = {}) {
  const auto n = last - first;
  for (auto i = n / 2; i > 0; --i) ::troupe_device::sink(first, i - 1, n, less);
}
template <class I, class F = less<>>
constexpr void push_heap(I first, I last, F less = {}) {
  for (auto i = last - first - 1; i > 0 && less(first[(i - 1) / 2], first[i]); i = (i - 1) / 2)
    std::iter_swap(first + i, first + (i - 1) / 2);
}
template <class I, class F = less<>>
constexpr void pop_heap(I first, I last, F less = {}) {
  const auto n = last - first - 1;
  if (n <= 0) return;
  std::iter_swap(first, first + n);
  ::troupe_device::sink(first, decltype(n)(0), n, less);
}
template <class I, class F = less<>>
constexpr void sort_heap(I first, I last, F less = {}) {
  for (; last - first > 1; --last) std::pop_heap(first, last, less);
}

// Insertion sort, for small ranges such as a thread has.
template <class I, class F = less<>>
constexpr void sort(I first, I last, F less = {}) {
  if (last - first <= 24) return ::troupe_device::insertion_sort(first, last, less);
  std::make_heap(first, last, less);
  std::sort_heap(first, last, less);
}
template <class I, class F = less<>>
constexpr void partial_sort(I first, I middle, I last, F less = {}) {
  std::make_heap(first, middle, less);
  for (I at = middle; at != last; ++at)
    if (less(*at, *first)) {
      std::iter_swap(at, first);
      ::troupe_device::sink(first, decltype(middle - first)(0), middle - first, less);
    }
  std::sort_heap(first, middle, less);
}
template <class I, class F = less<>>
constexpr void nth_element(I first, I nth, I last, F less = {}) {
  if (nth != last) std::partial_sort(first, next(nth), last, less);
}
// Sorts both halves and merges them by rotation.
template <class I, class F = less<>>
constexpr void inplace_merge(I first, I middle, I last, F less = {}) {
  while (first != middle && middle != last) {
    first = std::upper_bound(first, middle, *middle, less);
    if (first == middle) return;
    const I end = std::lower_bound(middle, last, *first, less);
    first = std::rotate(first, middle, end);
    middle = end;
  }
}
template <class I, class F = less<>>
constexpr void stable_sort(I first, I last, F less = {}) {
  constexpr int run = 24;
  const auto n = last - first;
  for (decltype(last - first) i = 0; i < n; i += run)
    ::troupe_device::insertion_sort(first + i, first + (n - i < run ? n : i + run), less);
  for (decltype(last - first) width = run; width < n; width *= 2)
    for (decltype(last - first) i = 0; i + width < n; i += 2 * width)
      std::inplace_merge(first + i, first + (i + width), first + (n - i < 2 * width ? n : i + 2 * width), less);
}
template <class I, class F = less<>>
constexpr bool next_permutation(I first, I last, F less = {}) {
  if (last - first < 2) return false;
  for (I at = prev(last); at != first; --at) {
    const I before = prev(at);
    if (!less(*before, *at)) continue;
    I with = prev(last);
    while (!less(*before, *with)) --with;
    std::iter_swap(before, with);
    std::reverse(at, last);
    return true;
  }
  std::reverse(first, last);
  return false;
}

}  // namespace std
