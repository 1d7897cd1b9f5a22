// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/dnn/kinds.hpp>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// How the elements of the result lie on those of the image.
struct resampling_options {
  /// `nearest`: one element, half way the later one. `linear`: between two along each spatial index. `cubic`: of four,
  /// by Keys's polynomial with -0.75. Elements beside the image are those of its border.
  resampling_kind kind = resampling_kind::linear;
  /// The centres of the first and last elements lie on each other. Otherwise the outer borders do: element i lies at
  /// (i + 0.5) * in / out - 0.5.
  bool aligned_corners = false;
};

/// The image with other extents of its spatial indexes, of which there are 1 to 3.
value resample(const value& x, std::span<const std::int64_t> to, const resampling_options& o = {});
inline value resample(const value& x, std::initializer_list<std::int64_t> to, const resampling_options& o = {}) {
  return resample(x, std::span(to.begin(), to.size()), o);
}
/// With extents that are those of the image times a factor, rounded down.
value resample_by(const value& x, std::span<const double> factors, const resampling_options& o = {});
inline value resample_by(const value& x, std::initializer_list<double> factors, const resampling_options& o = {}) {
  return resample_by(x, std::span(factors.begin(), factors.size()), o);
}
/// The gradient of x from that of y. `of_x` are the spatial extents of x.
value resample_gradient(const value& dy, std::span<const std::int64_t> of_x, const resampling_options& o = {});
inline value resample_gradient(const value& dy, std::initializer_list<std::int64_t> of_x,
                               const resampling_options& o = {}) {
  return resample_gradient(dy, std::span(of_x.begin(), of_x.size()), o);
}

}  // namespace troupe::dnn
