// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/epilogue/rebound_tree.hpp>
#include <troupe/matmul/cuda/problem.hpp>

namespace troupe::matmul {

/// The part of a request that the choice of its plan may depend on: what `write_key` writes, and nothing else. Each
/// address is replaced by another with the same alignment, and each number of the epilogue by 1.
struct product_kind {
  product_kind(const multiplication& r, const problem& p);

  product_options options;
  problem product;
  dtype a, b;  ///< types of the request's factors, which `product` exchanges if it is the transpose
  epilogue::rebound_tree tree;
};

/// Returns true if our own kernel computes requests of the kind.
bool is_small(const product_kind& kind) noexcept;
/// Returns true if our own kernel computes the request, with the same bits alone and together with others.
bool is_small(const multiplication& r) noexcept;

/// Writes the key of the request's plan to `to`: shapes, strides, alignments, types, options and epilogue structure.
void write_key(std::string& to, const multiplication& r, const problem& p);

}  // namespace troupe::matmul
