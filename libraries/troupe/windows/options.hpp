// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/windows/per_axis.hpp>

namespace troupe::windows {

/// The options of a convolution; `dnn::convolution_options` is the same type.
struct convolution_options {
  per_axis padding = 0;         ///< zeros before the image
  per_axis padding_after = {};  ///< zeros after the image; as many as `padding` if it is not given
  per_axis stride = 1, dilation = 1;
  std::int64_t groups = 1;  ///< number of groups of channels; each filter reads the channels of one group
};

}  // namespace troupe::windows
