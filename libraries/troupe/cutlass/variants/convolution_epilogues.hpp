// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/variants/convolution_operands.hpp>
#include <vector>

/// Epilogues of convolutions for kernels, whose products have rows and batches of their own.
namespace troupe::cutlass {

struct epilogue_plan {
  bool is_separate = false;  ///< computed from sums in memory, after all products
  bool by_images = false;    ///< each image is a product of its own
};
epilogue_plan epilogue_plan_of(const convolution_problem& p) noexcept;

/// Returns how many remainders by the stride the positions along an axis have, and how many products a convolution is.
std::int64_t remainders(const convolution_problem& p, std::size_t axis) noexcept;
std::int64_t launches_of(const convolution_problem& p) noexcept;
/// Returns true if columns of the filters' matrix are taps in the order of kernels.
bool has_order_of_taps(const grouped_tensor& filters) noexcept;

/// Returns the convolution as a product.
std::vector<std::byte> plain_tree();
/// Returns the epilogue with operands in the batches of the kernel: groups of columns, or images.
std::vector<std::byte> tree_of_products(const convolution_problem& p, std::int64_t columns_of_group);
/// Returns the epilogue of sums that are loaded: consecutive matrices of rows * row elements. Fails if there are too
/// many operands.
result<std::vector<std::byte>> tree_of_sums(const convolution_problem& p, std::uint64_t sums, std::int64_t rows,
                                            std::int64_t row);

}  // namespace troupe::cutlass
