// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/embedded.hpp>
#include <troupe/fft/cuda/engine.hpp>

// The fatbin that kernels.cu is compiled to.
TROUPE_EMBEDDED(troupe_fft_kernels, TROUPE_KERNELS);

namespace troupe::fft {

result<cuda::kernel_set> load_kernels() {
  return cuda::kernel_set::load(troupe_fft_kernels, "troupe_fft_", "the kernels of fft");
}

}  // namespace troupe::fft
