// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Replaces the other sources if cuDNN's headers are missing.
#include <troupe/dnn/cudnn/kernel_maker.hpp>

namespace troupe::dnn::cudnn {

result<std::unique_ptr<kernel_maker>> kernel_maker::open(const engine_context&, const cuda::gpu_properties&) {
  return error(reaction::unsupported, "dnn", "cuDNN is not used: its headers were missing when Troupe was built");
}

}  // namespace troupe::dnn::cudnn
