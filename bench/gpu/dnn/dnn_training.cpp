// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Steps of training networks, compared with the same networks in PyTorch.
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

// Trains a network; on a GPU a large one.
template <class Extents>
figures trained(const settings& s, const Extents& small, const Extents& large) {
  training t = training_of(s.engine == "host" ? small : large);
  if (s.engine == "host")
    t.rounds = 1;
  else
    t.on_torch_device = cat("cuda:", s.ordinal);
  return samples_per_second(s, t);
}

}  // namespace

figures run_dnn_train(const settings& s) {
  return trained<residual_network::extents>(s, {.images = 4, .size = 8, .width = 8, .blocks = 1}, {});
}
figures run_dnn_resnet50(const settings& s) {
  return trained<bottleneck_network::extents>(
      s, {.images = 4, .size = 32, .width = 8, .kinds = 10, .blocks = {1, 1, 1, 1}}, {});
}
figures run_dnn_gpt(const settings& s) {
  return trained<transformer_block::extents>(s, {.sequences = 2, .tokens = 16, .width = 32, .heads = 2}, {});
}

}  // namespace troupe::bench
