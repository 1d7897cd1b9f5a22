// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/embedded.hpp>
#include <troupe/matmul/cuda/kernels.hpp>

// The fatbin of kernels.cu.
TROUPE_EMBEDDED(troupe_matmul_kernels, TROUPE_KERNELS);

namespace troupe::matmul {

result<cuda::kernel_set> load_kernels() {
  return cuda::kernel_set::load(troupe_matmul_kernels, "troupe_matmul_", "the kernels of matmul");
}

}  // namespace troupe::matmul
