// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/base/enumeration.hpp>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// The interpolation between the elements of an image.
enum class resampling_kind : std::int64_t { nearest, linear, cubic };
TROUPE_ENUM(resampling_kind, nearest, linear, cubic)

/// Options of a resampling: the interpolation, and the positions of the result's elements in the image.
struct resampling_options {
  /// `nearest`: takes one element. `linear`: interpolates between two elements along each spatial axis. `cubic`:
  /// combines four elements by Keys's polynomial with the parameter -0.75. Outside the image, its border elements are
  /// repeated.
  resampling_kind kind = resampling_kind::linear;
  resampling_coordinates coordinates = resampling_coordinates::half_pixel;
  nearest_rounding rounding = nearest_rounding::round_prefer_ceil;  ///< of positions, if kind is `nearest`
};

/// Returns the image resampled to the extents `to` of its 1 to 3 spatial axes.
value resample(const value& x, std::span<const std::int64_t> to, const resampling_options& o = {});
inline value resample(const value& x, std::initializer_list<std::int64_t> to, const resampling_options& o = {}) {
  return resample(x, std::span(to.begin(), to.size()), o);
}
/// Returns the image resampled to its spatial extents times the factors, rounded down.
value resample_by(const value& x, std::span<const double> factors, const resampling_options& o = {});
inline value resample_by(const value& x, std::initializer_list<double> factors, const resampling_options& o = {}) {
  return resample_by(x, std::span(factors.begin(), factors.size()), o);
}
/// Returns the gradient of x, computed from dy, the gradient of y. `of_x` are the spatial extents of x.
value resample_gradient(const value& dy, std::span<const std::int64_t> of_x, const resampling_options& o = {});
inline value resample_gradient(const value& dy, std::initializer_list<std::int64_t> of_x,
                               const resampling_options& o = {}) {
  return resample_gradient(dy, std::span(of_x.begin(), of_x.size()), o);
}

/// y = x, resampled to the spatial extents of y.
struct resample_forward {
  in_any x;
  out_any y;
  resampling_kind kind = resampling_kind::linear;
  resampling_coordinates coordinates = resampling_coordinates::half_pixel;
  nearest_rounding rounding = nearest_rounding::round_prefer_ceil;
  computation_options options = {};
  TROUPE_REQUEST("dnn.resample_forward", x, y, kind, coordinates, rounding, options)
  computation to_request() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. dx has the extents of x.
struct resample_backward {
  in_any dy;
  out_any dx;
  resampling_kind kind = resampling_kind::linear;
  resampling_coordinates coordinates = resampling_coordinates::half_pixel;
  nearest_rounding rounding = nearest_rounding::round_prefer_ceil;
  computation_options options = {};
  TROUPE_REQUEST("dnn.resample_backward", dy, dx, kind, coordinates, rounding, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
