// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::bench {

/// Returns how elements differ, if they differ by more than rounding errors of values as large as they are or as the
/// root of their mean square. Otherwise returns "".
inline std::string element_difference(dtype type, std::span<const std::byte> ours, std::span<const std::byte> raw) {
  if (std::memcmp(ours.data(), raw.data(), ours.size()) == 0) return {};
  const std::size_t size = bytes_of(type), count = ours.size() / size;
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double y = epilogue::number_at(raw.data() + i * size, type);
    squares += y * y;
  }
  const double rounding = type == dtype::bf16  ? 0x1p-6
                          : type == dtype::f16 ? 0x1p-9
                                               : 0x1p-12,
               usual = std::sqrt(squares / static_cast<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const double x = epilogue::number_at(ours.data() + i * size, type),
                 y = epilogue::number_at(raw.data() + i * size, type);
    if (!(std::abs(x - y) <= rounding * (std::abs(y) + usual)))
      return cat("element ", i, " is ", std::to_string(x), ", expected ", std::to_string(y));
  }
  return {};
}

}  // namespace troupe::bench
