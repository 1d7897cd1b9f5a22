// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/embedded.hpp>
#include <troupe/dnn/cuda/kernels.hpp>

// The fatbin compiled from kernels.cu.
TROUPE_EMBEDDED(troupe_dnn_kernels, TROUPE_KERNELS);

namespace troupe::dnn {

result<cuda::kernel_set> load_kernels() {
  return cuda::kernel_set::load(troupe_dnn_kernels, "troupe_dnn_", "the kernels of dnn");
}

}  // namespace troupe::dnn
