// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Steps of training a small residual network, compared with the same network in PyTorch.
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
figures run_dnn_train(const settings& s) {
  if (s.engine == "host")
    return images_per_second(s, {.network = {.images = 4, .size = 8, .width = 8, .blocks = 1}, .rounds = 1});
  return images_per_second(s, {.network = {}, .on_torch_device = cat("cuda:", s.ordinal)});
}

}  // namespace troupe::bench
