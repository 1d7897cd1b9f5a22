// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/requests/options.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/matmul/multiplication.hpp>
#include <vector>

namespace troupe::dnn::products {

/// The functions that follow a product, in this order, and that matmul's engine may compute together with it.
struct product_tail {
  double factor = 1;        ///< multiplies the product
  bool has_bias = false;    ///< adds a row, which is the third input of the match
  bool has_addend = false;  ///< adds a matrix, which is the third input of the match
  std::optional<epilogue::op> activation = {};

  bool has_functions() const noexcept { return has_bias || has_addend || activation; }
};

/// A product of the graph, the functions that follow it, and the types and layouts of its operands.
struct product_match {
  fusion_match match;  ///< inputs: a, b, and what the tail adds; output: the result
  product_tail tail;

  /// Returns the request that computes the match: its operands have these shapes, and placeholders for addresses.
  /// Returns nullopt if a shape is not that of matrices; see batch_of().
  std::optional<matmul::multiplication> request(std::span<const tensor_shape> inputs, const tensor_shape& output,
                                                const matmul::product_options& o) const;
};

/// Returns the matches for a product of the graph, the one with the longest tail first; none if no engine of matmul has
/// products like it. `compute` is the type in which the graph is computed.
std::vector<product_match> product_matches(const graph_analysis& g, std::size_t node, dtype compute);

}  // namespace troupe::dnn::products
