// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/request/encoding/field_codec.hpp>

namespace troupe {

/// Copies records to `to`, and moves `to` to their end. Fields that are trees or graphs are encoded as such plain
/// records.
template <class T>
void put_records(std::byte*& to, std::span<const T> all) noexcept {
  if (!all.empty()) std::memcpy(to, all.data(), all.size_bytes());
  to += all.size_bytes();
}
/// Returns the `count` records at `at`, and moves `at` to their end.
template <class T>
std::span<const T> take_records(const std::byte*& at, std::size_t count) noexcept {
  const std::span<const T> out(reinterpret_cast<const T*>(at), count);
  at += count * sizeof(T);
  return out;
}

/// The codec of a field that is encoded in the blob as a whole: its `encoded_bytes()` and `encode(to)` write it, and a
/// worker constructs it as `F(address, bytes)`.
template <class F, char Kind>
struct records_codec {
  using element = std::byte;
  static constexpr char kind = Kind;
  static constexpr std::size_t size = 16, align = 8;
  static std::size_t blob_bytes(const F& f) noexcept { return blob_cursor::padded(f.encoded_bytes()); }
  static void encode(const F& f, std::byte* at, blob_cursor& blob) noexcept {
    const std::uint64_t raw[2] = {blob.address, f.encoded_bytes()};
    std::memcpy(at, raw, sizeof raw);
    f.encode(blob.host);
    blob.advance(raw[1]);
  }
  static F decode(const std::byte* at) noexcept {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    return F(reinterpret_cast<const std::byte*>(raw[0]), raw[1]);
  }
};

}  // namespace troupe
