// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/request/extent.hpp>

/// Options of requests of fft, and the layouts of their elements.
namespace troupe::fft {

/// The sign in the exponent: exp(-2 pi i j k / n) or exp(+2 pi i j k / n).   CUFFT_FORWARD, CUFFT_INVERSE
enum class direction : std::uint8_t { forward = 0, inverse = 1 };
TROUPE_ENUM(direction, forward, inverse)

/// The number by which the results of a transform of N points are divided.
enum class normalization : std::uint8_t {
  none = 0,         ///< 1, as in cuFFT and FFTW: a forward and an inverse transform together multiply by N
  inverse = 1,      ///< N for the inverse transform, as NumPy's "backward" and MATLAB
  orthonormal = 2,  ///< the square root of N for both transforms
  forward = 3,      ///< N for the forward transform
};
TROUPE_ENUM(normalization, none, inverse, orthonormal, forward)

/// The extents of 1 to 3 axes. Elements along the last axis are adjacent.
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
  /// Returns the number of elements.
  constexpr extent count() const noexcept {
    extent all = 1;
    for (std::size_t i = 0; i < rank(); ++i) all = all * (*this)[i];
    return all;
  }
  /// Returns the shape with another last extent.
  constexpr shape with_last(extent n) const noexcept {
    shape out = *this;
    out.sizes_[rank() == 0 ? 0 : rank() - 1] = n.value();
    return out;
  }
  /// Returns the shape without extents, which stands for the extents of the transform itself.
  static constexpr shape tight() noexcept { return shape(); }

  friend constexpr bool operator==(const shape&, const shape&) noexcept = default;

 private:
  constexpr shape() noexcept = default;
  std::int64_t rank_ = 0;
  std::int64_t sizes_[most] = {1, 1, 1};
};

std::string to_string(const shape& s);

/// The layout of one side of a transform. Element {i, j, k} of transform b is at
///   b * distance + ((i * embed[1] + j) * embed[2] + k) * stride
/// counted in elements of that side. By default, elements are adjacent, and transforms follow each other without gaps.
///   .embed = {8, 10}                      a part of 8 rows of 10
///   .stride = channels, .distance = 1     interleaved channels, each a transform of the batch
struct layout {
  /// Extents of the array of which the transform is a part. The first one only determines the default distance.
  shape embed = shape::tight();
  extent stride = 1;        ///< elements of memory from one element to the next
  extent distance = tight;  ///< elements of memory from one transform of the batch to the next
  friend constexpr bool operator==(const layout&, const layout&) noexcept = default;
};

std::string to_string(const layout& l);

/// Returns how many complex elements are stored of the transform of `n` real elements: the others are conjugates of
/// these.
constexpr extent half_of(extent n) noexcept { return extent(n.value() / 2 + 1); }
constexpr shape half_of(const shape& n) noexcept { return n.with_last(half_of(n.last())); }
/// Returns the extents in memory that the real side of a transform in place needs.
constexpr shape padded(const shape& n) noexcept { return n.with_last(half_of(n.last()) * 2); }

}  // namespace troupe::fft
