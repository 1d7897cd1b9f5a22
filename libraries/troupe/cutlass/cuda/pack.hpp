// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/problems/pack_problem.hpp>

namespace troupe::cutlass {

/// Loads the kernels of pack.cu.
result<cuda::kernel_set> load_packing();
/// Enqueues the kernel that packs weights.
result<void> enqueue(const pack_problem& p, const cuda::kernel_set& kernels, CUstream stream);

}  // namespace troupe::cutlass
