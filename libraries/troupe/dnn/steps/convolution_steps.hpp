// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// Returns the geometry of a step that computes a convolution or one of its gradients.
inline windows::convolution_geometry convolution_geometry_of(const operator_step& s) noexcept {
  const auto a = s.attributes.as<convolution_attributes>();
  return windows::convolution_geometry::of(
      a.slides, a.groups,
      convolution_roles<const tensor_shape&>::of(computed_by(s.what), s.inputs[0].shape, s.inputs[1].shape,
                                                 s.outputs[0].shape));
}

}  // namespace troupe::dnn
