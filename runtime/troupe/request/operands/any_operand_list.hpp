// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/operands/any_operand.hpp>

/// Lets one field of a request hold many matrices or tensors of any types.
namespace troupe {

/// Encodes into the blob the fixed part of each operand, followed by the shapes of those with many axes.
template <access_mode M>
struct field_codec<list<any_operand<M>>> {
  using one = field_codec<any_operand<M>>;
  using element = std::byte;
  static constexpr char kind = "def"[static_cast<int>(M)];
  static constexpr std::size_t size = 16, align = 8;
  static std::size_t blob_bytes(const list<any_operand<M>>& all) noexcept {
    std::size_t bytes = blob_cursor::padded(all.size() * one::size);
    for (const auto& o : all) bytes += one::blob_bytes(o);
    return bytes;
  }
  static void encode(const list<any_operand<M>>& all, std::byte* at, blob_cursor& blob) noexcept {
    const std::uint64_t raw[2] = {blob.address, all.size()};
    std::memcpy(at, raw, sizeof raw);
    std::byte* to = blob.host;
    blob.advance(all.size() * one::size);
    for (const auto& o : all) {
      one::encode(o, to, blob);
      to += one::size;
    }
  }
  static list<any_operand<M>> decode(const std::byte* at) {
    std::uint64_t raw[2];
    std::memcpy(raw, at, sizeof raw);
    const auto* const from = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(raw[0]));
    list<any_operand<M>> out;
    out.reserve(raw[1]);
    for (std::uint64_t i = 0; i < raw[1]; ++i) out.push_back(one::decode(from + i * one::size));
    return out;
  }
};

}  // namespace troupe
