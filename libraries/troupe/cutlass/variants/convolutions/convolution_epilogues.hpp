// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_operands.hpp>
#include <vector>

/// Epilogues of convolutions, translated to the rows and batches of the kernels' products.
namespace troupe::cutlass {

/// The way in which the epilogue of a convolution is computed.
struct epilogue_plan {
  bool is_separate = false;  ///< true if the epilogue is computed from sums in memory, after all products
  bool by_images = false;    ///< true if each image is a separate product
};
epilogue_plan epilogue_plan_of(const convolution_problem& p) noexcept;

/// Returns how many different remainders the positions along an axis leave when divided by the stride.
std::int64_t remainders(const convolution_problem& p, std::size_t axis) noexcept;
/// Returns the number of products that a convolution is computed as: one, or one for each combination of remainders.
std::int64_t launches_of(const convolution_problem& p) noexcept;
/// Returns true if the elements of a filter in memory have the order of taps: see templates/arguments.hpp.
bool has_order_of_taps(const grouped_tensor& filters) noexcept;

/// Returns the encoded epilogue that is the sum itself.
std::vector<std::byte> plain_tree();
/// Returns the encoded epilogue with batch strides for the kernel's batches: groups of columns, or images.
std::vector<std::byte> tree_of_products(const convolution_problem& p, std::int64_t columns_of_group);
/// Returns the encoded epilogue that loads its sums from memory: matrices of `rows` rows of `row` elements, one after
/// the other at address `sums`. Fails if the epilogue has too many operands.
result<std::vector<std::byte>> tree_of_sums(const convolution_problem& p, std::uint64_t sums, std::int64_t rows,
                                            std::int64_t row);

}  // namespace troupe::cutlass
