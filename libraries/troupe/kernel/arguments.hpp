// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <troupe/base/containers/placed.hpp>
#include <troupe/kernel/argument.hpp>
#include <troupe/request/encoding/codec.hpp>
#include <troupe/request/encoding/encoded_field.hpp>
#include <vector>

namespace troupe::kernel {

/// The arguments of a launch, in the order of the kernel's parameters. Buffers that the kernel writes must be passed as
/// `out(y)` or `inout(y)`; a plain buffer is only read.
class arguments {
 public:
  arguments() noexcept = default;
  template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, arguments> &&
             std::is_constructible_v<argument, const First&> && (std::is_constructible_v<argument, const Rest&> && ...))
  arguments(const First& first, const Rest&... rest) {
    list_->reserve(1 + sizeof...(rest));
    list_->emplace_back(first);
    (list_->emplace_back(rest), ...);
  }
  /// Makes a list for programs that know the number of arguments only at run time.
  explicit arguments(std::vector<argument> list) noexcept : list_(std::move(list)) {}

  const std::vector<argument>& list() const noexcept { return *list_; }
  std::size_t size() const noexcept { return list_->empty() ? seen_count_ : list_->size(); }

  /// One argument, as the worker sees it.
  struct decoded {
    argument::kind is;
    dtype type;
    std::uint32_t alignment;
    std::uint32_t bytes;       ///< size of the value, or of an element of the buffer
    std::uint64_t elements;    ///< number of elements of the buffer
    const std::byte* content;  ///< the value, possibly unaligned, or 8 bytes with the buffer's address
    access_mode mode;          ///< access to the buffer
    const tensor_layout* map;  ///< layout of a tensor map, or null
  };
  /// Calls `f(const decoded&)` for each argument. For use in the worker.
  template <class F>
  void for_each(F&& f) const {
    const std::byte* at = seen_;
    for (std::uint32_t i = 0; i < seen_count_; ++i) f(next(at));
  }

  // For the codec.
  std::size_t encoded_bytes() const noexcept;
  void encode(std::byte* to) const noexcept;
  static arguments view(const std::byte* encoded, std::uint32_t count) noexcept {
    arguments a;
    a.seen_ = encoded;
    a.seen_count_ = count;
    return a;
  }

 private:
  struct head {
    argument::kind is;
    dtype type;
    std::uint8_t alignment;  // at most 128
    access_mode mode;
    std::uint32_t bytes;
  };
  static decoded next(const std::byte*& at) noexcept;

  placed<std::vector<argument>> list_;  // used in the application
  const std::byte* seen_ = nullptr;     // used in the worker
  std::uint32_t seen_count_ = 0;
};

}  // namespace troupe::kernel

namespace troupe {

template <>
struct operands_in<kernel::arguments> : numbered_operands {
  template <class V>
  static void visit(const kernel::arguments& a, V&& f) {
    for (const kernel::argument& one : a.list()) {
      if (one.has_memory()) f(&one, one.range(), one.bytes(), one.mode());
      for (const kernel::held_buffer& h : one.held()) f(&h, h.range, h.element_bytes, h.mode);
    }
  }
  /// Returns the argument's position among all arguments, including those that have no buffer.
  static std::size_t index_of(const kernel::arguments& a, const void* place) noexcept {
    std::size_t i = 0;
    for (const kernel::argument& one : a.list()) {
      const auto holds = [place](const kernel::held_buffer& h) { return &h == place; };
      if (&one == place || std::any_of(one.held().begin(), one.held().end(), holds)) return i;
      ++i;
    }
    return i;
  }
};

/// Encodes a short list in the request's fixed part, and a longer one in the blob.
template <>
struct field_codec<kernel::arguments> {
  using element = std::byte;
  static constexpr char kind = 'A';
  static constexpr std::size_t size = 256, align = 8, inline_bytes = size - 16;
  static std::size_t blob_bytes(const kernel::arguments& a) noexcept {
    const std::size_t bytes = a.encoded_bytes();
    return bytes <= inline_bytes ? 0 : blob_cursor::padded(bytes);
  }
  static void encode(const kernel::arguments& a, std::byte* at, blob_cursor& blob) noexcept {
    const std::size_t bytes = a.encoded_bytes();
    const bool here = bytes <= inline_bytes;
    const std::uint64_t raw[2] = {here ? 0 : blob.address, a.size()};
    std::memcpy(at, raw, sizeof raw);
    a.encode(here ? at + sizeof raw : blob.host);
    clear_rest(at, sizeof raw + (here ? bytes : 0), size);
    if (!here) blob.advance(bytes);
  }
  static kernel::arguments decode(const std::byte* at) noexcept {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    const auto* there = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(raw[0]));
    return kernel::arguments::view(raw[0] == 0 ? at + sizeof raw : there, static_cast<std::uint32_t>(raw[1]));
  }
};

/// Errors name an argument by its position.
template <>
struct encoded_field<kernel::arguments> {
  static void list_operands(const std::byte* at, std::string_view field, std::vector<encoded_operand>& to);
};

}  // namespace troupe
