// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>

namespace troupe::dnn {

/// The attributes of a normalization. Inputs: x; scale and offset, both or neither; the running averages of mean and
/// variance, if given. Outputs: y, the mean and the inverse deviation of x; then the next running averages.
struct normalization_attributes {
  std::int64_t over;  ///< bit i is set if statistics are taken over axis i
  /// The number of groups of neighboring channels into which axis 1 is divided, each with its own statistics. 1: the
  /// axis is not divided.
  std::int64_t groups;
  std::int64_t rms;          ///< 1 if no mean is subtracted; the second output is 0 then
  std::int64_t has_affine;   ///< 1 if scale and offset are given; if rms, only the scale
  std::int64_t has_running;  ///< 1 if running averages are given
  double epsilon, momentum;  ///< next average = (1 - momentum) * running + momentum * current; the variance is unbiased
};
/// The attributes of a normalization's gradient. Inputs: dy, x, mean, inverse deviation, and the scale if there is one.
/// Outputs: dx; if there is a scale, dscale; unless rms, also doffset.
using normalization_gradient_attributes = normalization_attributes;

/// The indexes of a normalization's inputs and outputs; `absent` for those that the node does not have.
struct normalization_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t x, scale, offset, running_mean, running_variance;
  std::size_t y, mean, deviation, next_mean, next_variance;
  constexpr explicit normalization_places(const normalization_attributes& a) noexcept
      : x(inputs++),
        scale(next_index(inputs, a.has_affine != 0)),
        offset(next_index(inputs, a.has_affine != 0 && a.rms == 0)),
        running_mean(next_index(inputs, a.has_running != 0)),
        running_variance(next_index(inputs, a.has_running != 0)),
        y(outputs++),
        mean(outputs++),
        deviation(outputs++),
        next_mean(next_index(outputs, a.has_running != 0)),
        next_variance(next_index(outputs, a.has_running != 0)) {}
  constexpr node_counts counts() const noexcept { return {inputs, outputs}; }
};
struct normalization_gradient_places {
  std::size_t inputs = 0, outputs = 0;
  std::size_t dy, x, mean, deviation, scale;
  std::size_t dx, dscale, doffset;
  constexpr explicit normalization_gradient_places(const normalization_gradient_attributes& a) noexcept
      : dy(inputs++),
        x(inputs++),
        mean(inputs++),
        deviation(inputs++),
        scale(next_index(inputs, a.has_affine != 0)),
        dx(outputs++),
        dscale(next_index(outputs, a.has_affine != 0)),
        doffset(next_index(outputs, a.has_affine != 0 && a.rms == 0)) {}
  constexpr node_counts counts() const noexcept { return {inputs, outputs}; }
};

/// The indexes of the inputs that both a normalization and its gradient have.
struct normalization_inputs {
  std::size_t x, scale;
  constexpr normalization_inputs(op what, const normalization_attributes& a) noexcept
      : x(what == op::normalization ? normalization_places(a).x : normalization_gradient_places(a).x),
        scale(what == op::normalization ? normalization_places(a).scale : normalization_gradient_places(a).scale) {}
};

constexpr bool is_sound(op what, const normalization_attributes& a, const node_counts& n) noexcept {
  if (!is_flag(a.rms) || !is_flag(a.has_affine) || !is_flag(a.has_running)) return false;
  if (what == op::normalization_gradient) return normalization_gradient_places(a).counts() == n;
  return !(a.rms != 0 && a.has_running != 0) && normalization_places(a).counts() == n;
}

}  // namespace troupe::dnn
