// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// min, max and related functions.
#pragma once
#include "../initializer_list"
#include "iterators.h"
#include "operations.h"
#include "pair.h"

namespace std {

template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T, class F>
constexpr const T& min(const T& a, const T& b, F less) {
  return less(b, a) ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T, class F>
constexpr const T& max(const T& a, const T& b, F less) {
  return less(a, b) ? b : a;
}
template <class T, class F = less<>>
constexpr pair<const T&, const T&> minmax(const T& a, const T& b, F less = {}) {
  if (less(b, a)) return pair<const T&, const T&>(b, a);
  return pair<const T&, const T&>(a, b);
}
template <class T, class F = less<>>
constexpr const T& clamp(const T& x, const T& low, const T& high, F less = {}) {
  return less(x, low) ? low : less(high, x) ? high : x;
}

template <class I, class F = less<>>
constexpr I min_element(I first, I last, F less = {}) {
  I best = first;
  if (first == last) return best;
  while (++first != last)
    if (less(*first, *best)) best = first;
  return best;
}
template <class I, class F = less<>>
constexpr I max_element(I first, I last, F less = {}) {
  I best = first;
  if (first == last) return best;
  while (++first != last)
    if (less(*best, *first)) best = first;
  return best;
}
template <class I, class F = less<>>
constexpr pair<I, I> minmax_element(I first, I last, F less = {}) {
  pair<I, I> best(first, first);
  if (first == last) return best;
  while (++first != last) {
    if (less(*first, *best.first)) best.first = first;
    if (!less(*first, *best.second)) best.second = first;
  }
  return best;
}
template <class T>
constexpr T min(initializer_list<T> all) {
  return *min_element(all.begin(), all.end());
}
template <class T, class F>
constexpr T min(initializer_list<T> all, F less) {
  return *min_element(all.begin(), all.end(), less);
}
template <class T>
constexpr T max(initializer_list<T> all) {
  return *max_element(all.begin(), all.end());
}
template <class T, class F>
constexpr T max(initializer_list<T> all, F less) {
  return *max_element(all.begin(), all.end(), less);
}
template <class T, class F = less<>>
constexpr pair<T, T> minmax(initializer_list<T> all, F less = {}) {
  const auto found = minmax_element(all.begin(), all.end(), less);
  return pair<T, T>(*found.first, *found.second);
}

}  // namespace std
