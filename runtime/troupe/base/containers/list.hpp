// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <troupe/base/containers/placed.hpp>
#include <utility>
#include <vector>

namespace troupe {

template <class T>
class list;

namespace detail {

template <class R, class T>
concept other_range =
    !std::derived_from<R, list<T>> && !std::same_as<R, std::vector<T>> && std::ranges::input_range<const R&> &&
    std::convertible_to<std::ranges::range_reference_t<const R&>, T> && !std::convertible_to<const R&, T>;

template <class T, std::size_t>
using item = T;

// The constructors that take 1 to N items; each item can be written with braces of its own. A std::initializer_list
// cannot be used: inside co_await, g++ 12 does not compile one whose elements have destructors.
template <class T, class Places>
class list_of;
template <class T>
class list_of<T, std::index_sequence<>> {
 public:
  list_of() noexcept = default;
  // A template, so that braces with arguments for a constructor of std::vector do not select this constructor.
  template <std::same_as<std::vector<T>> V>
  explicit list_of(V items) noexcept : items_(std::move(items)) {}

 protected:
  placed<std::vector<T>> items_;
};
template <class T, std::size_t First, std::size_t... Rest>
class list_of<T, std::index_sequence<First, Rest...>> : public list_of<T, std::make_index_sequence<sizeof...(Rest)>> {
  using fewer = list_of<T, std::make_index_sequence<sizeof...(Rest)>>;

 public:
  using fewer::fewer;
  list_of() noexcept = default;
  list_of(item<T, First> first, item<T, Rest>... rest) {
    this->items_->reserve(1 + sizeof...(rest));
    this->items_->push_back(std::move(first));
    (this->items_->push_back(std::move(rest)), ...);
  }
};

}  // namespace detail

/// A `std::vector` for fields of requests, recipes and options. Unlike `std::vector`, it is safe in a temporary inside
/// `co_await` with g++ 12: see `placed`. Made from up to 16 items, or from any range whose elements convert to T:
///   .a = {x, y}, .b = buffers
template <class T>
class list : public detail::list_of<T, std::make_index_sequence<16>> {
  using base = detail::list_of<T, std::make_index_sequence<16>>;
  using base::items_;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  using base::base;
  list() noexcept = default;
  template <std::same_as<std::vector<T>> V>
  list(V items) noexcept : base(std::move(items)) {}
  template <detail::other_range<T> R>
  list(const R& range) {
    if constexpr (std::ranges::sized_range<const R&>) items_->reserve(std::ranges::size(range));
    for (auto&& one : range) items_->push_back(static_cast<T>(one));
  }

  const std::vector<T>& vector() const noexcept { return *items_; }
  operator const std::vector<T>&() const noexcept { return *items_; }

  template <std::input_iterator I>
    requires std::convertible_to<std::iter_reference_t<I>, T>
  list(I first, I last) {
    for (; first != last; ++first) items_->push_back(static_cast<T>(*first));
  }

  std::size_t size() const noexcept { return items_->size(); }
  bool empty() const noexcept { return items_->empty(); }
  const T* data() const noexcept { return items_->data(); }
  T* data() noexcept { return items_->data(); }
  const T& operator[](std::size_t i) const noexcept { return (*items_)[i]; }
  T& operator[](std::size_t i) noexcept { return (*items_)[i]; }
  const T& front() const noexcept { return items_->front(); }
  T& front() noexcept { return items_->front(); }
  const T& back() const noexcept { return items_->back(); }
  T& back() noexcept { return items_->back(); }
  const_iterator begin() const noexcept { return items_->begin(); }
  const_iterator end() const noexcept { return items_->end(); }
  iterator begin() noexcept { return items_->begin(); }
  iterator end() noexcept { return items_->end(); }

  void reserve(std::size_t n) { items_->reserve(n); }
  void resize(std::size_t n)
    requires std::is_default_constructible_v<T>
  {
    items_->resize(n);
  }
  void clear() noexcept { items_->clear(); }
  template <std::input_iterator I>
  void assign(I first, I last) {
    items_->assign(first, last);
  }
  void push_back(T item) { items_->push_back(std::move(item)); }
  void pop_back() noexcept { items_->pop_back(); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    return items_->emplace_back(std::forward<Args>(args)...);
  }

  friend bool operator==(const list& a, const list& b)
    requires std::equality_comparable<T>
  {
    return a.vector() == b.vector();
  }
};

}  // namespace troupe
