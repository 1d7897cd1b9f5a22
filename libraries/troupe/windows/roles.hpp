// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

namespace troupe::windows {

/// The tensor that is computed: y from x and filters, or dx or dfilters, the gradients of x and of filters. Nodes of
/// dnn and requests of cutlass call the latter the data gradient and the weight gradient, requests of dnn
/// `conv_data_backward` and `conv_weight_backward`.
enum class convolution_result : std::uint8_t { y = 0, dx = 1, dfilters = 2 };
TROUPE_ENUM(convolution_result, y, dx, dfilters)

/// A value for each tensor of a convolution, by its role. `result` is the convolution of `image` with `filters`; for a
/// gradient, `image` or `filters` is computed from the other two.
template <class T>
struct convolution_roles {
  T image, filters, result;

  /// Returns the values by role. `first` and `second` belong to the factors, in the order of requests and nodes;
  /// `computed` belongs to the computed tensor.
  static constexpr convolution_roles of(convolution_result what, T first, T second, T computed) noexcept {
    if (what == convolution_result::y) return {first, second, computed};
    if (what == convolution_result::dx) return {computed, second, first};
    return {second, computed, first};
  }
  /// Return the values of the first factor, of the second, and of the computed tensor.
  constexpr const T& first(convolution_result what) const noexcept {
    return what == convolution_result::y ? image : result;
  }
  constexpr const T& second(convolution_result what) const noexcept {
    return what == convolution_result::dfilters ? image : filters;
  }
  constexpr const T& computed(convolution_result what) const noexcept {
    return what == convolution_result::y ? result : what == convolution_result::dx ? image : filters;
  }
};

}  // namespace troupe::windows
