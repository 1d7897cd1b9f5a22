// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolutions/convolution_kind.hpp>
#include <troupe/cutlass/variants/signature.hpp>

namespace troupe::cutlass {

/// Everything that the code of a convolution's kernel depends on, except its plan. `convolution` is `none` if nothing
/// is gathered: then the kernel is that of an ordinary product.
struct convolution_signature {
  kernel_signature product;
  convolution_kind convolution = convolution_kind::none;
  std::uint8_t rank = 3;
  bool strided_result = false;
};

}  // namespace troupe::cutlass
