// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/cuda/kernels.hpp>
#include <troupe/cuda/embedded.hpp>

// The fatbin that kernels.cu is compiled to.
TROUPE_EMBEDDED(troupe_blas_kernels, TROUPE_KERNELS);

namespace troupe::blas {

result<cuda::kernel_set> load_kernels() {
  return cuda::kernel_set::load(troupe_blas_kernels, "troupe_blas_", "the kernels of blas");
}

}  // namespace troupe::blas
