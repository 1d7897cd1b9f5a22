// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/epilogue/host/tail.hpp>
#include <troupe/matmul/host/ordered_factor.hpp>

/// Computes products with epilogues on the processor: OpenBLAS computes a panel of the product at a time, and the
/// epilogue is applied to it while it is in the cache.
namespace troupe::matmul {

/// One product: its factors with their scales, the type of its sums, its epilogue and its result. Extents may be 0.
struct host_product {
  host_factor a, b;
  host_scales a_scales = {}, b_scales = {};
  dtype sums{};
  const epilogue::tree* tree = nullptr;  ///< must outlive this
  epilogue::host::result_place to{};
  std::int64_t which = 0;  ///< index in the batch, for operands of the epilogue that have a part for each product
};

/// Independent products. `at` may be called several times for each of them, by several threads.
struct host_products {
  std::int64_t count = 0;
  std::function<host_product(std::int64_t)> at;
};

/// Computes the products for the request of this name. Small ones use one core each, larger ones all cores. They use at
/// most `workspace` bytes of memory beside the operands; fails with `unsupported` if one needs more.
result<void> compute(std::string_view request, const host_products& all, std::uint64_t workspace, thread_team& team);
/// Returns the bytes that this computation uses beside the operands.
result<std::uint64_t> memory_for(std::string_view request, const host_products& all, std::uint64_t workspace,
                                 thread_team& team);

}  // namespace troupe::matmul
