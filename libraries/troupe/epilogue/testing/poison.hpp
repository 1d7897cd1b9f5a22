// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <limits>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::epilogue::testing {

/// Writes an element that must neither be read nor remain in a result: NaN, because 0 times NaN is not 0; in a type
/// without NaN, bytes other than 0.
inline void put_poison(void* place, dtype t) noexcept {
  const std::size_t bytes = bytes_of(t);
  const auto put_parts = [&](dtype part) {
    for (std::size_t i = 0; i < bytes; i += bytes_of(part)) put_poison(static_cast<std::byte*>(place) + i, part);
  };
  if (t == dtype::c64) return put_parts(dtype::f32);
  if (t == dtype::c128) return put_parts(dtype::f64);
  if (is_real(t) && t < dtype::i8)
    put_number(place, t, std::numeric_limits<double>::quiet_NaN());
  else
    std::memset(place, 0x5b, bytes);
}
/// Returns true if the element has the bytes that `put_poison` writes.
inline bool is_poison(const void* place, dtype t) noexcept {
  std::array<std::byte, 16> poison{};
  put_poison(poison.data(), t);
  return std::memcmp(place, poison.data(), bytes_of(t)) == 0;
}

}  // namespace troupe::epilogue::testing
