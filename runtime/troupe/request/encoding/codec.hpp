// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <troupe/request/encoding/field_codec.hpp>
#include <troupe/request/encoding/fields.hpp>
#include <troupe/request/extent.hpp>
#include <utility>

namespace troupe {

namespace detail {

template <class... F>
constexpr auto offsets(field_list<F...>) noexcept {
  std::array<std::size_t, sizeof...(F) + 1> at{};
  std::size_t i = 0, end = 0;
  ((at[i++] = end = (end + field_codec<F>::align - 1) / field_codec<F>::align * field_codec<F>::align,
    end += field_codec<F>::size),
   ...);
  at[i] = (end + 7) / 8 * 8;
  return at;
}

template <class R>
inline constexpr auto offsets_of = offsets(fields_of<R>{});

// Encodes the field, and clears the bytes up to the next field.
template <class R, std::size_t I, class F>
void encode_field(const F& f, std::byte* payload, blob_cursor& blob) noexcept {
  constexpr std::size_t at = offsets_of<R>[I], end = at + field_codec<F>::size, gap = offsets_of<R>[I + 1] - end;
  field_codec<F>::encode(f, payload + at, blob);
  if constexpr (gap != 0) std::memset(payload + end, 0, gap);
}
template <class R, std::size_t... I, class... F>
void encode_fields(std::byte* payload, blob_cursor& blob, std::index_sequence<I...>, const F&... f) noexcept {
  (encode_field<R, I>(f, payload, blob), ...);
}
template <class R>
void encode_all(const R& r, std::byte* payload, blob_cursor& blob) noexcept {
  R::visit_fields(r, [&](std::string_view, const auto&... f) {
    encode_fields<R>(payload, blob, std::index_sequence_for<decltype(f)...>{}, f...);
  });
}

template <class R, class... F, std::size_t... I>
R decode_fields(const std::byte* payload, field_list<F...>, std::index_sequence<I...>) {
  return R{field_codec<F>::decode(payload + offsets_of<R>[I])...};
}

}  // namespace detail

/// The number of bytes of the fixed part of a request or of a group of fields.
template <class R>
inline constexpr std::size_t payload_bytes = detail::offsets_of<R>[fields_of<R>::count];

/// Returns the number of bytes of the parts that vary in size; 0 for most requests.
template <class R>
std::size_t blob_bytes(const R& r) noexcept {
  return R::visit_fields(r, [](std::string_view, const auto&... f) {
    return (std::size_t{0} + ... + field_codec<std::remove_cvref_t<decltype(f)>>::blob_bytes(f));
  });
}

/// Writes the fixed part to `payload` (aligned to 8) and the other parts through `blob`. Unused bytes, also those
/// between fields, are 0, so that equal requests have equal bytes.
template <class R>
void encode(const R& r, std::byte* payload, blob_cursor blob = {}) noexcept {
  detail::encode_all(r, payload, blob);
}

/// Returns the request as the worker uses it: its operands are plain memory.
template <class R>
R decode(const std::byte* payload) {
  using fields = fields_of<R>;
  return detail::decode_fields<R>(payload, fields{}, std::make_index_sequence<fields::count>{});
}

template <field_group G>
struct field_codec<G> {
  using element = std::byte;
  static constexpr char kind = 'G';
  static constexpr std::size_t size = payload_bytes<G>, align = 8;
  static std::size_t blob_bytes(const G& group) noexcept { return troupe::blob_bytes(group); }
  static void encode(const G& group, std::byte* at, blob_cursor& blob) noexcept { detail::encode_all(group, at, blob); }
  static G decode(const std::byte* at) { return troupe::decode<G>(at); }
};

}  // namespace troupe
