// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/kernels.hpp>

namespace troupe::dnn {

/// Loads the kernels that are compiled from kernels.cu.
result<cuda::kernel_set> load_kernels();

}  // namespace troupe::dnn
