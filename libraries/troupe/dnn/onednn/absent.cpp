// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Replaces the other sources if oneDNN's headers are missing.
#include <troupe/dnn/onednn/kernel_maker.hpp>

namespace troupe::dnn::onednn {

result<std::unique_ptr<kernel_maker>> kernel_maker::open(std::size_t) {
  return error(reaction::unsupported, "dnn", "oneDNN is not used: its headers were missing when Troupe was built");
}

}  // namespace troupe::dnn::onednn
