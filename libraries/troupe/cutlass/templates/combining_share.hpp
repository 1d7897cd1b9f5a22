// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/host_device.hpp>

namespace troupe::cutlass::kernels {

/// Share of a block of the kernel that combines reductions: the results of products `first`, `first + step` and so on;
/// of their lines, each `parts`th from number `part` on, because blocks share products if they are more.
struct combining_share {
  int first, step, part, parts;
};
TROUPE_HOST_DEVICE combining_share share_of(int block, int blocks, int products) {
  const int parts = blocks > products ? blocks / products : 1, step = blocks / parts, first = block / parts;
  return {first < step ? first : products, step, block % parts, parts};  // remaining blocks have no work
}

}  // namespace troupe::cutlass::kernels
