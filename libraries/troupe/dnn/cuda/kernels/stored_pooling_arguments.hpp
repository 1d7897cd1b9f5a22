// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>

/// Arguments of pooling, and of its gradient, of tensors as they are stored: f32 or half types, with any strides. All
/// counts fit 32 bits.
namespace troupe::dnn::kernel_arguments {

/// A tensor with the axes image, channel, depth, height and width.
struct stored_image {
  void* memory;
  dtype type;
  std::uint32_t strides[5];
};

struct stored_pooling_arguments {
  std::uint32_t count;       ///< elements of the result
  std::uint32_t extents[5];  ///< of the result
  std::uint32_t order[5];    ///< the axes of the result, the one with the largest stride first
  std::int32_t in[3], out[3], window[3], padding[3], stride[3], dilation[3];
  std::int64_t kind;
  stored_image x, dy, to;  ///< dy: only of the gradient; x: of the gradient of a maximum, too
};

}  // namespace troupe::dnn::kernel_arguments
