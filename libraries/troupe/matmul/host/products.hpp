// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/epilogue/host/epilogue_pass.hpp>
#include <troupe/matmul/host/ordered_factor.hpp>

/// Computes products with epilogues on the processor: OpenBLAS computes a panel of the product at a time, and the
/// epilogue is applied to it while it is in the cache.
namespace troupe::matmul {

/// One product: factors, their scales, the type of the sums, the epilogue and the result. Extents may be 0.
struct host_product {
  host_factor a, b;
  host_scales a_scales = {}, b_scales = {};
  dtype sums{};
  const epilogue::tree* tree = nullptr;  ///< the epilogue; must outlive this object
  epilogue::host::result_place to{};
  std::int64_t which = 0;  ///< index of this product in the batch: which matrix of the epilogue's operands it uses
};

/// Independent products.
struct host_products {
  std::int64_t count = 0;
  /// Returns product i. Called several times for each product, by several threads.
  std::function<host_product(std::int64_t)> at;
};

/// Computes products. `request` is the request's name, for error texts. Small products use one core each, larger ones
/// all cores. Uses at most `workspace` bytes of memory beside the operands; fails with `unsupported` if a product needs
/// more.
result<void> compute(std::string_view request, const host_products& all, std::uint64_t workspace, thread_team& team);
/// Returns the bytes that `compute` uses beside the operands.
result<std::uint64_t> memory_for(std::string_view request, const host_products& all, std::uint64_t workspace,
                                 thread_team& team);

}  // namespace troupe::matmul
