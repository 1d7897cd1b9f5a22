// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <troupe/base/containers/list.hpp>
#include <troupe/base/containers/text.hpp>
#include <troupe/request/operands/operand.hpp>
#include <type_traits>

namespace troupe {

/// The place in memory that both sides map, at which the parts of a request that vary in size are written.
struct blob_cursor {
  std::byte* host = nullptr;  ///< the place's address in this process, for writing
  std::uint64_t address = 0;  ///< the place's address in the worker, for reading
  static constexpr std::size_t align = 16;
  static constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + align - 1) / align * align; }
  void advance(std::size_t bytes) noexcept {
    host += padded(bytes);
    address += padded(bytes);
  }
};

/// Sets the bytes that a field leaves unused to 0.
inline void clear_rest(std::byte* at, std::size_t used, std::size_t size) noexcept {
  std::memset(at + used, 0, size - used);
}

/// The encoding of one kind of field. `size` and `align` are those of its fixed part; `blob_bytes` returns the bytes
/// that it adds to the blob; `encode` and `decode` convert. `element` is the type of the value, or of the elements of a
/// list or operand. `encode` writes all `size` bytes, and sets unused ones to 0 (`clear_rest`). The primary template is
/// for plain values: numbers, enumerations, small structs.
template <class F>
struct field_codec {
  static_assert(
      std::is_trivially_copyable_v<F>,
      "a field of a request must be an operand, an extent, a plain value, a troupe::text or a troupe::list; not "
      "std::string or std::vector, which g++ 12 destroys twice inside co_await");
  using element = F;
  static constexpr char kind = 'v';
  static constexpr std::size_t size = sizeof(F), align = alignof(F);
  static constexpr std::size_t blob_bytes(const F&) noexcept { return 0; }
  static void encode(const F& f, std::byte* at, blob_cursor&) noexcept { std::memcpy(at, &f, sizeof f); }
  static F decode(const std::byte* at) noexcept {
    std::array<std::byte, sizeof(F)> raw;
    std::memcpy(raw.data(), at, sizeof(F));
    return std::bit_cast<F>(raw);
  }
};

template <class T, access_mode M>
struct field_codec<operand<T, M>> {
  using element = T;
  static constexpr char kind = "RWX"[static_cast<int>(M)];
  static constexpr std::size_t size = 16, align = 8;
  static constexpr std::size_t blob_bytes(const operand<T, M>&) noexcept { return 0; }
  static void encode(const operand<T, M>& f, std::byte* at, blob_cursor&) noexcept {
    const std::uint64_t raw[2] = {f.range().address, f.size()};
    std::memcpy(at, raw, sizeof raw);
  }
  static operand<T, M> decode(const std::byte* at) noexcept {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    return {raw[0], raw[1]};
  }
};

/// Encodes an operand that was left out as address 0, at which there is no memory.
template <class T, access_mode M>
struct field_codec<std::optional<operand<T, M>>> {
  using given = field_codec<operand<T, M>>;
  using element = T;
  static constexpr char kind = "012"[static_cast<int>(M)];
  static constexpr std::size_t size = given::size, align = given::align;
  static constexpr std::size_t blob_bytes(const std::optional<operand<T, M>>&) noexcept { return 0; }
  static void encode(const std::optional<operand<T, M>>& f, std::byte* at, blob_cursor& blob) noexcept {
    if (f)
      given::encode(*f, at, blob);
    else
      std::memset(at, 0, size);
  }
  static std::optional<operand<T, M>> decode(const std::byte* at) noexcept {
    const auto f = given::decode(at);
    return f.range().address == 0 ? std::nullopt : std::optional(f);
  }
};

/// Encodes text and lists: the fixed part holds the address of their elements in the blob, and their number.
template <class C>
struct sequence_codec {
  using element = typename C::value_type;
  static_assert(std::is_trivially_copyable_v<element>, "a list in a request holds plain values");
  static constexpr char kind = 'L';
  static constexpr std::size_t size = 16, align = 8;
  static std::size_t blob_bytes(const C& c) noexcept { return blob_cursor::padded(c.size() * sizeof(element)); }
  static void encode(const C& c, std::byte* at, blob_cursor& blob) noexcept {
    const std::uint64_t raw[2] = {blob.address, c.size()};
    std::memcpy(at, raw, sizeof raw);
    const std::size_t bytes = c.size() * sizeof(element);
    if (bytes != 0) std::memcpy(blob.host, c.data(), bytes);
    blob.advance(bytes);
  }
  static C decode(const std::byte* at) {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    const auto* first = reinterpret_cast<const element*>(static_cast<std::uintptr_t>(raw[0]));
    if constexpr (std::is_same_v<C, text>)
      return C(std::string_view(first, raw[1]));
    else
      return C(std::span<const element>(first, raw[1]));
  }
};
template <>
struct field_codec<text> : sequence_codec<text> {};
template <class T>
struct field_codec<list<T>> : sequence_codec<list<T>> {};

/// Encodes a list of operands: the blob holds the address and size of each.
template <class T, access_mode M>
struct field_codec<list<operand<T, M>>> {
  using one = field_codec<operand<T, M>>;
  using element = T;
  static constexpr char kind = "rwx"[static_cast<int>(M)];
  static constexpr std::size_t size = 16, align = 8;
  static std::size_t blob_bytes(const list<operand<T, M>>& l) noexcept {
    return blob_cursor::padded(l.size() * one::size);
  }
  static void encode(const list<operand<T, M>>& l, std::byte* at, blob_cursor& blob) noexcept {
    const std::uint64_t raw[2] = {blob.address, l.size()};
    std::memcpy(at, raw, sizeof raw);
    for (std::size_t i = 0; i < l.size(); ++i) one::encode(l[i], blob.host + i * one::size, blob);
    blob.advance(l.size() * one::size);
  }
  static list<operand<T, M>> decode(const std::byte* at) {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    const auto* from = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(raw[0]));
    list<operand<T, M>> out;
    out.reserve(raw[1]);
    for (std::uint64_t i = 0; i < raw[1]; ++i) out.push_back(one::decode(from + i * one::size));
    return out;
  }
};

}  // namespace troupe
