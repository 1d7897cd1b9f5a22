// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/onednn/convolution.hpp>

namespace troupe::dnn::onednn {

/// How images lie: the last index first, channels last, or as it suits.
enum class order : std::uint8_t { either, first, last };

/// What a convolution or a gradient of one costs, by about which a way is chosen: nanoseconds of one core.
struct cost {
  op what{};
  convolution_attributes attributes{};
  tensor_shape image, filters, result;
  order of_image = order::either, of_result = order::either;
  bool has_functions = false;  ///< functions of elements follow
  bool is_wide = false;        ///< the processor has AVX-512

  /// With our loops and OpenBLAS.
  double of_ours() const noexcept;
  /// With oneDNN.
  double of(convolution::way w) const noexcept;
  /// Whether oneDNN may be used in this way.
  bool allows(convolution::way w) const noexcept;
};

}  // namespace troupe::dnn::onednn
