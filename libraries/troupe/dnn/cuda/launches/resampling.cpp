// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/windows/geometry.hpp>

namespace troupe::dnn {

result<void> enqueue_resampling(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<resampling_attributes>();
  const bool forward = s.what == op::resampling;
  const location &from = s.inputs[0], &to = s.outputs[0];
  const tensor_shape &image = forward ? from.shape : to.shape, &result = forward ? to.shape : from.shape;
  kernel_arguments::resampling_arguments r{.planes = image.extents[0] * image.extents[1],
                                           .in = {1, 1, 1},
                                           .out = {1, 1, 1},
                                           .taps = {1, 1, 1},
                                           .coordinates = a.coordinates,
                                           .rounding = a.rounding,
                                           .from = on.at(from),
                                           .to = on.at(to)};
  const std::size_t missing = windows::most_spatial + 2 - image.rank;
  for (std::size_t i = missing; i < windows::most_spatial; ++i)
    r.in[i] = image.extents[i - missing + 2], r.out[i] = result.extents[i - missing + 2], r.taps[i] = a.taps;
  const std::int64_t count = elements_of(to.shape);
  return forward ? launch_per_element<"resample">(on, count, r)
                 : launch_per_element<"resampling_gradient">(on, count, r);
}

}  // namespace troupe::dnn
