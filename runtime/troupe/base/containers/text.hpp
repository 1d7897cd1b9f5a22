// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <ostream>
#include <string>
#include <string_view>
#include <troupe/base/containers/placed.hpp>

namespace troupe {

/// A `std::string` for fields of requests, recipes and options. Unlike `std::string`, it is safe in a temporary inside
/// `co_await` with g++ 12: see `placed`. Converts from and to string types.
class text {
 public:
  using value_type = char;

  text() noexcept = default;
  text(std::string value) noexcept : value_(std::move(value)) {}
  text(std::string_view value) : value_(std::string(value)) {}
  text(const char* value) : value_(std::string(value)) {}
  /// Accepts types that convert to `std::string`, such as `std::filesystem::path`.
  template <class S>
    requires(std::convertible_to<const S&, std::string> && !std::convertible_to<const S&, std::string_view> &&
             !std::same_as<S, text>)
  text(const S& value) : value_(static_cast<std::string>(value)) {}

  const std::string& str() const noexcept { return *value_; }
  operator const std::string&() const noexcept { return *value_; }
  operator std::string_view() const noexcept { return *value_; }
  const char* c_str() const noexcept { return value_->c_str(); }
  const char* data() const noexcept { return value_->data(); }
  std::size_t size() const noexcept { return value_->size(); }
  bool empty() const noexcept { return value_->empty(); }
  char front() const noexcept { return value_->front(); }
  char back() const noexcept { return value_->back(); }
  bool starts_with(std::string_view s) const noexcept { return value_->starts_with(s); }
  bool ends_with(std::string_view s) const noexcept { return value_->ends_with(s); }
  std::size_t find(std::string_view s, std::size_t from = 0) const noexcept { return value_->find(s, from); }
  std::size_t find(char c, std::size_t from = 0) const noexcept { return value_->find(c, from); }
  std::size_t find_first_of(std::string_view any, std::size_t from = 0) const noexcept {
    return value_->find_first_of(any, from);
  }
  auto begin() const noexcept { return value_->cbegin(); }
  auto end() const noexcept { return value_->cend(); }

  text& operator+=(std::string_view more) {
    value_->append(more);
    return *this;
  }

  friend bool operator==(const text& a, const text& b) noexcept { return a.str() == b.str(); }
  friend bool operator==(const text& a, std::string_view b) noexcept { return a.str() == b; }
  friend bool operator==(const text& a, const std::string& b) noexcept { return a.str() == b; }
  friend bool operator==(const text& a, const char* b) noexcept { return a.str() == b; }
  friend auto operator<=>(const text& a, const text& b) noexcept { return a.str() <=> b.str(); }
  friend std::string operator+(const text& a, const text& b) { return a.str() + b.str(); }
  friend std::string operator+(const text& a, const std::string& b) { return a.str() + b; }
  friend std::string operator+(const text& a, const char* b) { return a.str() + b; }
  friend std::string operator+(const text& a, char b) { return a.str() + b; }
  friend std::string operator+(char a, const text& b) { return a + b.str(); }
  friend std::string operator+(const std::string& a, const text& b) { return a + b.str(); }
  friend std::string operator+(const char* a, const text& b) { return a + b.str(); }
  friend std::ostream& operator<<(std::ostream& out, const text& t) { return out << t.str(); }

 private:
  placed<std::string> value_;
};

}  // namespace troupe
