// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/host_device.hpp>

namespace troupe::cutlass::kernels {

/// The share of one block of the kernel that combines reductions: products `first`, `first + step` and so on. If there
/// are more blocks than products, `parts` blocks share each product, and this block is number `part` of them.
struct combining_share {
  int first, step, part, parts;
};
/// Returns the share of block number `block` of `blocks`.
TROUPE_HOST_DEVICE combining_share share_of(int block, int blocks, int products) {
  const int parts = blocks > products ? blocks / products : 1, step = blocks / parts, first = block / parts;
  return {first < step ? first : products, step, block % parts, parts};  // remaining blocks have no work
}

}  // namespace troupe::cutlass::kernels
