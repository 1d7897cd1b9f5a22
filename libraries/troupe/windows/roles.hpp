// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

namespace troupe::windows {

/// The tensor that is computed: y from x and filters, or dx or dfilters, the gradients of x and of filters. Nodes of
/// dnn and requests of cutlass call the latter the data gradient and the weight gradient, requests of dnn
/// `conv_data_backward` and `conv_weight_backward`.
enum class computed_tensor : std::uint8_t { y = 0, dx = 1, dfilters = 2 };
TROUPE_ENUM(computed_tensor, y, dx, dfilters)

/// A value for each tensor of a convolution, by its role. `result` is the convolution of `image` with `filters`; for a
/// gradient, `image` or `filters` is computed from the other two.
template <class T>
struct convolution_roles {
  T image, filters, result;

  /// Returns the values by role. `first` and `second` belong to the factors, in the order of requests and nodes;
  /// `computed` belongs to the computed tensor.
  static constexpr convolution_roles of(computed_tensor what, T first, T second, T computed) noexcept {
    if (what == computed_tensor::y) return {first, second, computed};
    if (what == computed_tensor::dx) return {computed, second, first};
    return {second, computed, first};
  }
  /// Return the values of the first factor, of the second, and of the computed tensor.
  constexpr const T& first(computed_tensor what) const noexcept { return what == computed_tensor::y ? image : result; }
  constexpr const T& second(computed_tensor what) const noexcept {
    return what == computed_tensor::dfilters ? image : filters;
  }
  constexpr const T& computed(computed_tensor what) const noexcept {
    return what == computed_tensor::y ? result : what == computed_tensor::dx ? image : filters;
  }
};

}  // namespace troupe::windows
