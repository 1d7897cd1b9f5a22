// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

/// Variants of operations that kernels read, too: arguments of functions and fields of requests. Their numbers are sent
/// between processes and stored with plans: add new ones at the end.
namespace troupe::dnn {

/// The result of a pooling for each window. `mean` counts padding as zeros, `mean_of_image` leaves it out.
enum class pooling_kind : std::int64_t { maximum, mean, mean_of_image };
TROUPE_ENUM(pooling_kind, maximum, mean, mean_of_image)

/// The function by which a reduction combines elements.
enum class reduction_kind : std::int64_t { sum, mean, maximum, minimum, product, absolute_maximum, norm1, norm2 };
TROUPE_ENUM(reduction_kind, sum, mean, maximum, minimum, product, absolute_maximum, norm1, norm2)

/// The position of element i of a resampled axis in the image, by the names of ONNX. `half_pixel`, with the outer
/// borders at the same place: (i + 0.5) * in / out - 0.5. `align_corners`, with the centers of the first and the last
/// elements at the same place: i * (in - 1) / (out - 1). `asymmetric`: i * in / out. `pytorch_half_pixel`: as
/// `half_pixel`, but 0 if there is only one element.
enum class resampling_coordinates : std::int64_t { half_pixel, align_corners, asymmetric, pytorch_half_pixel };
TROUPE_ENUM(resampling_coordinates, half_pixel, align_corners, asymmetric, pytorch_half_pixel)

/// The element of the image that is nearest to a position, by the names of ONNX: the nearest one, and of two at the
/// same distance the later or the earlier one; or the one at the position rounded down or up.
enum class nearest_rounding : std::int64_t { round_prefer_ceil, round_prefer_floor, floor, ceil };
TROUPE_ENUM(nearest_rounding, round_prefer_ceil, round_prefer_floor, floor, ceil)

/// The kind of cell: the function that a recurrence computes at each step; see recurrence.hpp.
enum class recurrent_cell : std::int64_t { relu, tanh, lstm, gru };
TROUPE_ENUM(recurrent_cell, relu, tanh, lstm, gru)

}  // namespace troupe::dnn
