// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/cells/convolution_cells.hpp>
#include <troupe/cutlass/cells/convolution_operands.hpp>
#include <troupe/cutlass/templates/arguments.hpp>

namespace troupe::cutlass {

/// Which tensors of a convolution are copied to another order.
struct convolution_choice {
  bool image = false;   ///< what is gathered: x, or dy for dx
  bool other = false;   ///< the filters, or dy for dfilters
  bool result = false;  ///< computed in order, and copied to its place
  bool rows = false;  ///< the image and the filters are, so that rows of windows are channels: see convolution_rows.hpp
  friend bool operator==(const convolution_choice&, const convolution_choice&) = default;
};

/// One launch.
struct convolution_product {
  problem product;
  kernels::window window{};  ///< if the form has one
};

/// What is done for a convolution, in this order. A convolution is one product, and a gradient of an image is one for
/// each remainder of its places by the stride. What an epilogue cannot do from within these products is done by another
/// without terms (`pass`), which reads the sums from memory.
struct convolution_work {
  std::vector<tensor_copy> before;
  std::vector<convolution_product> products;
  std::vector<tensor_copy> between;
  std::optional<problem> pass;
  std::vector<tensor_copy> after;
  convolution_form form;    ///< of all products
  double reuse = 1;         ///< how often each number of the image is a term
  std::uint64_t bytes = 0;  ///< of memory beside the operands
  std::vector<std::byte> tree, pass_tree;
};

/// Returns the copies that may be worth their time, as opposed to `none_of`, which has those that must be.
convolution_choice useful_copies(const convolution_problem& p);
convolution_choice needed_copies(const convolution_problem& p);

/// `memory` is where memory beside the operands begins; 0 to ask how much there must be. Fails if there are too many
/// positions, or operands of the epilogue.
result<convolution_work> work_of(const convolution_problem& p, const convolution_choice& c, std::uint64_t memory);

}  // namespace troupe::cutlass
