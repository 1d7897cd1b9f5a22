// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/request/extent.hpp>

/// The choices in requests of `fft`, and where the elements of a transform lie.
namespace troupe::fft {

/// The sign in the exponent: exp(-2 pi i j k / n) or exp(+2 pi i j k / n).   CUFFT_FORWARD, CUFFT_INVERSE
enum class direction : std::uint8_t { forward = 0, inverse = 1 };

/// What results are divided by, where a transform has N points.
enum class normalization : std::uint8_t {
  none = 0,         ///< by nothing, as cuFFT and FFTW: there and back multiplies by N
  inverse = 1,      ///< the inverse by N, as NumPy's "backward" and MATLAB
  orthonormal = 2,  ///< both directions by the root of N
  forward = 3,      ///< the forward transform by N
};

constexpr bool is_known(direction d) noexcept { return d <= direction::inverse; }
constexpr bool is_known(normalization n) noexcept { return n <= normalization::forward; }

constexpr std::string_view to_string(direction d) noexcept {
  constexpr std::string_view names[] = {"forward", "inverse"};
  return is_known(d) ? names[static_cast<std::uint8_t>(d)] : "unknown";
}
constexpr std::string_view to_string(normalization n) noexcept {
  constexpr std::string_view names[] = {"none", "inverse", "orthonormal", "forward"};
  return is_known(n) ? names[static_cast<std::uint8_t>(n)] : "unknown";
}

/// Extents of 1 to 3 dimensions. In the last one elements are neighbours.
///   .n = 1024          .n = {rows, columns}
class shape {
 public:
  static constexpr std::size_t most = 3;

  template <std::integral I>
  constexpr shape(I n) noexcept : shape(extent(n)) {}
  constexpr shape(extent n) noexcept : rank_(1), sizes_{n.value(), 1, 1} {}
  constexpr shape(extent rows, extent columns) noexcept : rank_(2), sizes_{rows.value(), columns.value(), 1} {}
  constexpr shape(extent planes, extent rows, extent columns) noexcept
      : rank_(3), sizes_{planes.value(), rows.value(), columns.value()} {}

  constexpr std::size_t rank() const noexcept { return static_cast<std::size_t>(rank_); }
  constexpr extent operator[](std::size_t i) const noexcept { return sizes_[i]; }
  constexpr extent last() const noexcept { return sizes_[rank() == 0 ? 0 : rank() - 1]; }
  /// How many elements there are.
  constexpr extent count() const noexcept {
    extent all = 1;
    for (std::size_t i = 0; i < rank(); ++i) all = all * (*this)[i];
    return all;
  }
  /// The same with another last extent.
  constexpr shape with_last(extent n) const noexcept {
    shape out = *this;
    out.sizes_[rank() == 0 ? 0 : rank() - 1] = n.value();
    return out;
  }
  /// No extents: as the transform itself.
  static constexpr shape tight() noexcept { return shape(); }

  friend constexpr bool operator==(const shape&, const shape&) noexcept = default;

 private:
  constexpr shape() noexcept = default;
  std::int64_t rank_ = 0;
  std::int64_t sizes_[most] = {1, 1, 1};
};

std::string to_string(const shape& s);

/// Where the elements of one side of a transform lie: element {i, j, k} of transform b at
///   b * distance + ((i * embed[1] + j) * embed[2] + k) * stride
/// counted in elements of that side. Left out, they lie side by side, and one transform behind the other.
///   .embed = {8, 10}                      a part of 8 rows of 10
///   .stride = channels, .distance = 1     interleaved channels, each a transform of the batch
struct layout {
  shape embed = shape::tight();  ///< extents of what the transform is a part of; the first only sets the distance
  extent stride = 1;             ///< from one element to its neighbour
  extent distance = tight;       ///< from one transform of the batch to the next
  friend constexpr bool operator==(const layout&, const layout&) noexcept = default;
};

std::string to_string(const layout& l);

/// How many complex elements hold what a real transform of `n` has: the others are their conjugates.
constexpr extent half_of(extent n) noexcept { return extent(n.value() / 2 + 1); }
constexpr shape half_of(const shape& n) noexcept { return n.with_last(half_of(n.last())); }
/// The extents that the real side needs in memory for a transform in place.
constexpr shape padded(const shape& n) noexcept { return n.with_last(half_of(n.last()) * 2); }

}  // namespace troupe::fft
