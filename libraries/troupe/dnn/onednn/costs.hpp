// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/onednn/convolution_primitives.hpp>

namespace troupe::dnn::onednn {

/// The layout of an image in memory.
enum class image_layout : std::uint8_t { any, channels_first, channels_last };

/// A convolution or one of its gradients, whose time is estimated for each strategy. Times are in nanoseconds on one
/// core.
struct convolution_cost {
  convolution_to_build estimated;  ///< the tensors' strides, `strategy_used`, `has_bias` and `functions` are not used
  image_layout layout_of_image = image_layout::any, layout_of_result = image_layout::any;
  bool has_functions = false;  ///< true if elementwise functions follow the convolution
  bool is_wide = false;        ///< true if the processor has AVX-512

  /// Returns the time with our loops and OpenBLAS.
  double of_own_loops() const noexcept;
  /// Returns the time with oneDNN.
  double of_onednn(convolution_to_build::strategy strategy) const noexcept;
  /// Returns true if oneDNN may be used with this strategy.
  bool allows(convolution_to_build::strategy strategy) const noexcept;
};

}  // namespace troupe::dnn::onednn
