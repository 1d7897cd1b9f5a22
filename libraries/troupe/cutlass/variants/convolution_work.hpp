// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/cutlass/variants/convolution_operands.hpp>
#include <troupe/cutlass/variants/convolution_variants.hpp>

namespace troupe::cutlass {

/// Selects the tensors of a convolution that are copied to another order.
struct convolution_choice {
  bool image = false;   ///< the gathered operand: x, or dy for dx
  bool other = false;   ///< the filters, or dy for dfilters
  bool result = false;  ///< computed in order, and copied to the result's memory
  /// Copies the image and the filters so that rows of windows are channels: see convolution_rows.hpp.
  bool rows = false;
  friend bool operator==(const convolution_choice&, const convolution_choice&) = default;
};

/// One launch.
struct convolution_product {
  problem product;
  kernels::window window{};  ///< set if the signature has one
};

/// Steps of a convolution, in this order. A convolution is one product, and a gradient of an image is one for each
/// remainder of its positions by the stride. Parts of the epilogue that these products cannot compute are computed by
/// another product without terms (`separate_epilogue`), which reads the sums from memory.
struct convolution_work {
  std::vector<tensor_copy> before;
  std::vector<convolution_product> products;
  std::vector<tensor_copy> between;
  std::optional<problem> separate_epilogue;
  std::vector<tensor_copy> after;
  convolution_signature signature;  ///< of all products
  double reuse = 1;                 ///< how often each number of the image is a term
  std::uint64_t bytes = 0;          ///< memory beside the operands
  std::vector<std::byte> tree, separate_tree;
};

/// Returns the copies that may be faster, unlike `needed_copies`, which returns those without which there is no kernel.
convolution_choice useful_copies(const convolution_problem& p);
convolution_choice needed_copies(const convolution_problem& p);

/// Returns the steps. `memory` is the address of the memory beside the operands; 0 to find out how much is needed.
/// Fails if there are too many positions, or operands of the epilogue.
result<convolution_work> work_of(const convolution_problem& p, const convolution_choice& c, std::uint64_t memory);

}  // namespace troupe::cutlass
