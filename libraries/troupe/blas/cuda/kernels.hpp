// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/kernels.hpp>

namespace troupe::blas {

/// Loads the kernels of kernels.cu.
result<cuda::kernel_set> load_kernels();

}  // namespace troupe::blas
