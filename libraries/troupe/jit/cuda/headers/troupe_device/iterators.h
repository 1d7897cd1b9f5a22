// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Iterators: traits, movement, reverse iterators, and begin and end of ranges.
#pragma once
#include "../initializer_list"
#include "forward.h"

namespace std {

struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
struct contiguous_iterator_tag : random_access_iterator_tag {};

}  // namespace std

namespace troupe_device {

template <class I, class = void>
struct traits_of_iterator {};
template <class I>
struct traits_of_iterator<I, std::void_t<typename I::iterator_category, typename I::value_type,
                                         typename I::difference_type, typename I::pointer, typename I::reference>> {
  using iterator_category = typename I::iterator_category;
  using value_type = typename I::value_type;
  using difference_type = typename I::difference_type;
  using pointer = typename I::pointer;
  using reference = typename I::reference;
};

}  // namespace troupe_device

namespace std {

template <class I>
struct iterator_traits : ::troupe_device::traits_of_iterator<I> {};
template <class T>
struct iterator_traits<T*> {
  using iterator_category = random_access_iterator_tag;
  using value_type = remove_cv_t<T>;
  using difference_type = ptrdiff_t;
  using pointer = T*;
  using reference = T&;
};
template <class I>
using iter_value_t = typename iterator_traits<I>::value_type;
template <class I>
using iter_difference_t = typename iterator_traits<I>::difference_type;
template <class I>
using iter_reference_t = decltype(*declval<I&>());

template <class I, class Distance>
constexpr void advance(I& at, Distance by) {
  using category = typename iterator_traits<I>::iterator_category;
  if constexpr (is_base_of_v<random_access_iterator_tag, category>) {
    at += static_cast<iter_difference_t<I>>(by);
  } else {
    for (; by > 0; --by) ++at;
    if constexpr (is_base_of_v<bidirectional_iterator_tag, category>)
      for (; by < 0; ++by) --at;
  }
}
template <class I>
constexpr iter_difference_t<I> distance(I first, I last) {
  if constexpr (is_base_of_v<random_access_iterator_tag, typename iterator_traits<I>::iterator_category>) {
    return last - first;
  } else {
    iter_difference_t<I> n = 0;
    for (; first != last; ++first) ++n;
    return n;
  }
}
template <class I>
constexpr I next(I at, iter_difference_t<I> by = 1) {
  advance(at, by);
  return at;
}
template <class I>
constexpr I prev(I at, iter_difference_t<I> by = 1) {
  advance(at, -by);
  return at;
}

template <class I>
class reverse_iterator {
 public:
  using iterator_type = I;
  using iterator_category = typename iterator_traits<I>::iterator_category;
  using value_type = iter_value_t<I>;
  using difference_type = iter_difference_t<I>;
  using pointer = typename iterator_traits<I>::pointer;
  using reference = typename iterator_traits<I>::reference;

  constexpr reverse_iterator() : behind_() {}
  constexpr explicit reverse_iterator(I behind) : behind_(behind) {}
  template <class J, class = enable_if_t<is_convertible_v<const J&, I>>>
  constexpr reverse_iterator(const reverse_iterator<J>& other) : behind_(other.base()) {}
  constexpr I base() const { return behind_; }
  constexpr reference operator*() const {
    I at = behind_;
    return *--at;
  }
  constexpr auto operator->() const { return addressof(**this); }
  constexpr reference operator[](difference_type n) const { return *(*this + n); }
  constexpr reverse_iterator& operator++() {
    --behind_;
    return *this;
  }
  constexpr reverse_iterator operator++(int) { return reverse_iterator(behind_--); }
  constexpr reverse_iterator& operator--() {
    ++behind_;
    return *this;
  }
  constexpr reverse_iterator operator--(int) { return reverse_iterator(behind_++); }
  constexpr reverse_iterator& operator+=(difference_type n) {
    behind_ -= n;
    return *this;
  }
  constexpr reverse_iterator& operator-=(difference_type n) {
    behind_ += n;
    return *this;
  }
  constexpr reverse_iterator operator+(difference_type n) const { return reverse_iterator(behind_ - n); }
  constexpr reverse_iterator operator-(difference_type n) const { return reverse_iterator(behind_ + n); }
  friend constexpr reverse_iterator operator+(difference_type n, const reverse_iterator& i) { return i + n; }
  friend constexpr difference_type operator-(const reverse_iterator& a, const reverse_iterator& b) {
    return b.behind_ - a.behind_;
  }
  friend constexpr bool operator==(const reverse_iterator& a, const reverse_iterator& b) {
    return a.behind_ == b.behind_;
  }
  friend constexpr bool operator!=(const reverse_iterator& a, const reverse_iterator& b) { return !(a == b); }
  friend constexpr bool operator<(const reverse_iterator& a, const reverse_iterator& b) {
    return b.behind_ < a.behind_;
  }
  friend constexpr bool operator>(const reverse_iterator& a, const reverse_iterator& b) { return b < a; }
  friend constexpr bool operator<=(const reverse_iterator& a, const reverse_iterator& b) { return !(b < a); }
  friend constexpr bool operator>=(const reverse_iterator& a, const reverse_iterator& b) { return !(a < b); }

 private:
  I behind_;
};
template <class I>
constexpr reverse_iterator<I> make_reverse_iterator(I behind) {
  return reverse_iterator<I>(behind);
}

template <class C>
constexpr auto begin(C& c) -> decltype(c.begin()) {
  return c.begin();
}
template <class C>
constexpr auto begin(const C& c) -> decltype(c.begin()) {
  return c.begin();
}
template <class T, size_t N>
constexpr T* begin(T (&a)[N]) noexcept {
  return a;
}
template <class C>
constexpr auto end(C& c) -> decltype(c.end()) {
  return c.end();
}
template <class C>
constexpr auto end(const C& c) -> decltype(c.end()) {
  return c.end();
}
template <class T, size_t N>
constexpr T* end(T (&a)[N]) noexcept {
  return a + N;
}
template <class C>
constexpr auto cbegin(const C& c) -> decltype(std::begin(c)) {
  return std::begin(c);
}
template <class C>
constexpr auto cend(const C& c) -> decltype(std::end(c)) {
  return std::end(c);
}
template <class C>
constexpr auto rbegin(C& c) {
  return make_reverse_iterator(std::end(c));
}
template <class C>
constexpr auto rend(C& c) {
  return make_reverse_iterator(std::begin(c));
}
template <class C>
constexpr auto size(const C& c) -> decltype(c.size()) {
  return c.size();
}
template <class T, size_t N>
constexpr size_t size(const T (&)[N]) noexcept {
  return N;
}
template <class C>
constexpr auto ssize(const C& c) {
  return static_cast<ptrdiff_t>(std::size(c));
}
template <class C>
constexpr bool empty(const C& c) {
  return std::size(c) == 0;
}
template <class C>
constexpr auto data(C& c) -> decltype(c.data()) {
  return c.data();
}
template <class C>
constexpr auto data(const C& c) -> decltype(c.data()) {
  return c.data();
}
template <class T, size_t N>
constexpr T* data(T (&a)[N]) noexcept {
  return a;
}

}  // namespace std
