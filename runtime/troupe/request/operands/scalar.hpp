// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <troupe/request/encoding/field_codec.hpp>
#include <troupe/request/operands/operand.hpp>
#include <type_traits>

namespace troupe {

/// A number in a request: a value, or the first element of a buffer, read when the request runs. So a factor that an
/// earlier request computes need not travel to the application and back.
///   .alpha = 2          .alpha = norm   (a buffer<float>)
template <class T>
class scalar {
 public:
  constexpr scalar(T value) noexcept : value_(value) {}
  template <class U>
    requires(std::is_arithmetic_v<U> && !std::is_same_v<U, T> && std::is_constructible_v<T, U>)
  constexpr scalar(U value) noexcept : value_(static_cast<T>(value)) {}
  scalar(const buffer<T>& from) : range_(in<T>(from).range()), by_value_(false) {}
  scalar(buffer<T>&& from) : range_(in<T>(std::move(from)).range()), by_value_(false) {}
  /// Makes a scalar that is read from the start of this memory.
  explicit scalar(memory_range from) noexcept : range_(std::move(from)), by_value_(false) {}
  /// Makes a scalar for the worker: memory without an owner.
  static scalar at(std::uint64_t address) noexcept {
    scalar out{T{}};
    out.range_.address = address;
    out.range_.bytes = sizeof(T);
    out.by_value_ = false;
    return out;
  }

  bool by_value() const noexcept { return by_value_; }
  /// Returns true if the number is given by value and is `v`.
  bool is(T v) const noexcept { return by_value_ && value_ == v; }
  const T& value() const noexcept { return value_; }  ///< precondition: it is given by value
  const memory_range& range() const noexcept { return range_; }

  /// Returns the number, by value or from memory. Only in a worker whose processor can read the memory.
  T load() const noexcept {
    return by_value_ ? value_ : *reinterpret_cast<const T*>(static_cast<std::uintptr_t>(range_.address));
  }

 private:
  T value_{};
  memory_range range_;
  bool by_value_ = true;
};

template <class T>
struct operands_in<scalar<T>> : unnumbered_operands {
  template <class V>
  static void visit(const scalar<T>& s, V&& f) {
    if (!s.by_value()) f(&s, s.range(), sizeof(T), access_mode::read);
  }
};

/// Encodes a flag that says whether the number is in memory, and the number or its address.
template <class T>
struct field_codec<scalar<T>> {
  using element = T;
  static constexpr char kind = 'S';
  static constexpr std::size_t size = 8 + (sizeof(T) + 7) / 8 * 8, align = 8;
  static constexpr std::size_t blob_bytes(const scalar<T>&) noexcept { return 0; }
  static void encode(const scalar<T>& s, std::byte* at, blob_cursor&) noexcept {
    const std::uint64_t in_memory = s.by_value() ? 0 : 1;
    std::memcpy(at, &in_memory, sizeof in_memory);
    if (in_memory != 0) {
      std::memcpy(at + 8, &s.range().address, 8);
      clear_rest(at, 16, size);
    } else {
      std::memcpy(at + 8, &s.value(), sizeof(T));
      clear_rest(at, 8 + sizeof(T), size);
    }
  }
  static scalar<T> decode(const std::byte* at) noexcept {
    std::uint64_t in_memory;
    std::memcpy(&in_memory, at, sizeof in_memory);
    if (in_memory == 0) return scalar<T>(field_codec<T>::decode(at + 8));
    std::uint64_t address;
    std::memcpy(&address, at + 8, sizeof address);
    return scalar<T>::at(address);
  }
};

}  // namespace troupe
