// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/convolution_kind.hpp>
#include <troupe/cutlass/cells/form.hpp>

namespace troupe::cutlass {

/// What the code of a convolution's kernel depends on, but for its plan. `window` is `none` where the product is an
/// ordinary one: then its kernel is that of a product.
struct convolution_form {
  whole_form product;
  convolution window = convolution::none;
  std::uint8_t rank = 3;
  bool strided_result = false;
};

}  // namespace troupe::cutlass
