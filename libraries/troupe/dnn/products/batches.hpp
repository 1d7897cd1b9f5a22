// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/request/operands/view_shape.hpp>

/// Tensors as the matrices that the library matmul multiplies.
namespace troupe::dnn::products {

/// Returns the last two axes as matrices, and the other axes as one axis of a batch: a shape with three axes. Returns
/// nullopt if neither rows nor columns are contiguous, or if the matrices are not equally far apart.
std::optional<tensor_shape> batch_of(const tensor_shape& s) noexcept;

/// The shapes of a product: each has three axes, or all have two.
struct product_shapes {
  tensor_shape a, b, d;
  std::optional<tensor_shape> c = {};  ///< of a matrix that is added

  /// If all products of a batch share b, makes them one product of all rows, if those are equally far apart.
  void join_rows() noexcept;
};

}  // namespace troupe::dnn::products
