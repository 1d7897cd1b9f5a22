// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/templates/arguments.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_operands.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_variants.hpp>

namespace troupe::cutlass {

/// The tensors of a convolution that are copied to the order of the kernels: true for a copy.
struct convolution_choice {
  bool image = false;   ///< the gathered factor: x, or dy for dx
  bool other = false;   ///< the other factor: the filters, or dy for dfilters
  bool result = false;  ///< the result: computed in the kernels' order and copied to its memory
  /// True to copy the image and the filters so that rows of windows are channels: see convolution_rows.hpp.
  bool rows = false;
  friend bool operator==(const convolution_choice&, const convolution_choice&) = default;
};

/// A product that one launch computes.
struct convolution_product {
  problem product;
  kernels::convolution_arguments arguments{};  ///< set if the kernel gathers a factor
};

/// The steps of a convolution, in the order of the fields. There is one product, or for dx one for each combination of
/// remainders modulo the stride. An epilogue that these products cannot compute is computed by another product with k =
/// 0
/// (`separate_epilogue`), which loads the sums from memory.
struct convolution_work {
  std::vector<tensor_copy> before;
  std::vector<convolution_product> products;
  std::vector<tensor_copy> between;
  std::optional<problem> separate_epilogue;
  std::vector<tensor_copy> after;
  convolution_signature signature;             ///< shared by all products
  double reuse = 1;                            ///< number of times that each element of the image is multiplied
  std::uint64_t bytes = 0;                     ///< bytes of memory beside the operands
  std::vector<std::byte> tree, separate_tree;  ///< encoded epilogues of the products and of the separate epilogue
};

/// Returns the copies that may make the convolution faster, including the needed ones.
convolution_choice useful_copies(const convolution_problem& p);
/// Returns the copies without which no kernel can compute the convolution.
convolution_choice needed_copies(const convolution_problem& p);

/// Returns the steps. `memory` is the address of the memory beside the operands, or 0 if only its size is wanted. Fails
/// if there are too many positions, or too many operands of the epilogue.
result<convolution_work> work_of(const convolution_problem& p, const convolution_choice& c, std::uint64_t memory);

}  // namespace troupe::cutlass
