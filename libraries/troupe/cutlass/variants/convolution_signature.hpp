// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolution_kind.hpp>
#include <troupe/cutlass/variants/signature.hpp>

namespace troupe::cutlass {

/// Everything that the code of a convolution's kernel depends on, except its plan. `window` is `none` where the product
/// is an ordinary one: then its kernel is that of a product.
struct convolution_signature {
  kernel_signature product;
  convolution window = convolution::none;
  std::uint8_t rank = 3;
  bool strided_result = false;
};

}  // namespace troupe::cutlass
