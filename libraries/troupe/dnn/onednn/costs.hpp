// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/seen.hpp>

namespace troupe::dnn::onednn {

/// How images lie: the last index first, channels last, or as it suits.
enum class order : std::uint8_t { either, first, last };

/// What a convolution or a gradient of one costs, by about which a way is chosen.
struct cost {
  op what{};
  convolution_form form{};
  tensor_shape image, filters, result;
  order of_image = order::either, of_result = order::either;
  bool is_wide = false;  ///< the processor has AVX-512

  /// Whether oneDNN computes it with the channels last: otherwise in an order of its own.
  bool is_channels_last() const noexcept { return of_image != order::first || of_result != order::first; }
  /// Nanoseconds of one core with our loops and OpenBLAS, or with oneDNN.
  double of_ours() const noexcept;
  double of_onednn() const noexcept;
};

}  // namespace troupe::dnn::onednn
