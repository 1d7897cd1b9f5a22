// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// Choices in requests of blas.
namespace troupe::blas {

/// The operation on a matrix in a product. The matrix in memory does not change.
enum class op : std::uint8_t {
  none = 0,
  transpose = 1,
  conjugate_transpose = 2,  ///< the same as `transpose` for real elements
};

/// The half of a symmetric, Hermitian or triangular matrix that is stored, diagonal included. The other half is never
/// touched.
enum class triangle : std::uint8_t { lower = 0, upper = 1 };

/// The side on which the symmetric, Hermitian, triangular or diagonal matrix multiplies the other one.
enum class side : std::uint8_t { left = 0, right = 1 };

/// The diagonal of a triangular matrix: stored, or 1 and not read.
enum class diagonal : std::uint8_t { stored = 0, unit = 1 };

/// The least precision that products of float may have. An engine may be more precise: the host engine computes in
/// float.
enum class math_mode : std::uint8_t {
  exact = 0,   ///< precision of the compute type
  tf32 = 1,    ///< factors rounded to 10 bits of mantissa
  bf16 = 2,    ///< factors rounded to bfloat16
  f16 = 3,     ///< factors rounded to half
  bf16x9 = 4,  ///< as precise as float, from nine products of bfloat16
};

/// Returns true if the value is one of the choices.
constexpr bool is_known(op o) noexcept { return o <= op::conjugate_transpose; }
constexpr bool is_known(triangle t) noexcept { return t <= triangle::upper; }
constexpr bool is_known(side s) noexcept { return s <= side::right; }
constexpr bool is_known(diagonal d) noexcept { return d <= diagonal::unit; }
constexpr bool is_known(math_mode m) noexcept { return m <= math_mode::bf16x9; }

namespace detail {
template <class E, std::size_t N>
constexpr std::string_view name_among(E value, const std::string_view (&names)[N]) noexcept {
  return is_known(value) ? names[static_cast<std::uint8_t>(value)] : "unknown";
}
}  // namespace detail

constexpr std::string_view to_string(op o) noexcept {
  constexpr std::string_view names[] = {"none", "transpose", "conjugate_transpose"};
  return detail::name_among(o, names);
}
constexpr std::string_view to_string(triangle t) noexcept {
  constexpr std::string_view names[] = {"lower", "upper"};
  return detail::name_among(t, names);
}
constexpr std::string_view to_string(side s) noexcept {
  constexpr std::string_view names[] = {"left", "right"};
  return detail::name_among(s, names);
}
constexpr std::string_view to_string(diagonal d) noexcept {
  constexpr std::string_view names[] = {"stored", "unit"};
  return detail::name_among(d, names);
}
constexpr std::string_view to_string(math_mode m) noexcept {
  constexpr std::string_view names[] = {"exact", "tf32", "bf16", "f16", "bf16x9"};
  return detail::name_among(m, names);
}

}  // namespace troupe::blas
