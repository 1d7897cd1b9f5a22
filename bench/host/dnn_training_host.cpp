// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>

namespace troupe::bench {
figures run_dnn_train_host(const settings& s) {
  return images_per_second(s, {.network = {.images = 32}, .steps = 6, .rounds = 5, .on_torch_device = "cpu"});
}

}  // namespace troupe::bench
