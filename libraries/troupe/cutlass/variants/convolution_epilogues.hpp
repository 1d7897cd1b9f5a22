// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/cells/convolution_operands.hpp>
#include <vector>

/// How epilogues of convolutions are computed by kernels, whose products have rows and batches of their own.
namespace troupe::cutlass {

struct epilogue_way {
  bool passes = false;     ///< from sums in memory, after all products
  bool by_images = false;  ///< each image is a product of its own
};
epilogue_way epilogue_way_of(const convolution_problem& p) noexcept;

/// How many remainders by the stride the places along an index have, and how many products a convolution is.
std::int64_t remainders(const convolution_problem& p, std::size_t index) noexcept;
std::int64_t launches_of(const convolution_problem& p) noexcept;
/// Whether columns of filters' matrix are taps in the order of kernels.
bool has_order_of_taps(const grouped_tensor& filters) noexcept;

/// The product as it is.
std::vector<std::byte> plain_tree();
/// The epilogue, with operands as the batch of the kernel has them: groups of columns, or images.
std::vector<std::byte> tree_of_products(const convolution_problem& p, std::int64_t columns_of_group);
/// The epilogue of sums that are loaded: matrices of rows * row elements follow each other. Fails if there are too many
/// operands.
result<std::vector<std::byte>> tree_of_sums(const convolution_problem& p, std::uint64_t sums, std::int64_t rows,
                                            std::int64_t row);

}  // namespace troupe::cutlass
