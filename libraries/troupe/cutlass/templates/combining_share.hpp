// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/host_device.hpp>

namespace troupe::cutlass::kernels {

/// What a block of the kernel that combines reductions makes: the results of products `first`, `first + step` and so
/// on; of their lines, each `parts`th from number `part` on, because more blocks than products share these.
struct combining_share {
  int first, step, part, parts;
};
TROUPE_EVERYWHERE combining_share share_of(int block, int blocks, int products) {
  const int parts = blocks > products ? blocks / products : 1, step = blocks / parts, first = block / parts;
  return {first < step ? first : products, step, block % parts, parts};  // blocks that remain make nothing
}

}  // namespace troupe::cutlass::kernels
