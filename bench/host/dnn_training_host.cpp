// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>

namespace troupe::bench {
figures run_dnn_train_host(const settings& s) {
  training t = training_of(residual_network::extents{.images = 32});
  t.steps = 6, t.rounds = 5, t.on_torch_device = "cpu";
  return samples_per_second(s, t);
}

}  // namespace troupe::bench
