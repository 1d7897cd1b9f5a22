// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::blas {

/// How a matrix enters a product. The matrix itself stays where and as it is.
enum class op : std::uint8_t {
  none = 0,
  transpose = 1,
  conjugate_transpose = 2,  ///< the same as `transpose` for real elements
};

/// Whether the value names one of the three.
constexpr bool is_known(op o) noexcept { return o <= op::conjugate_transpose; }

constexpr std::string_view to_string(op o) noexcept {
  constexpr std::string_view names[] = {"none", "transpose", "conjugate_transpose"};
  return is_known(o) ? names[static_cast<std::uint8_t>(o)] : "unknown";
}

}  // namespace troupe::blas
