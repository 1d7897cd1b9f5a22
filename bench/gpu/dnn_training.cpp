// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Steps of training a small residual network, compared with the same network in PyTorch.
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

figures run(const settings& s) {
  if (s.engine == "host")
    return images_per_second(s, {.network = {.images = 4, .size = 8, .width = 8, .blocks = 1}, .rounds = 1});
  return images_per_second(s, {.network = {}, .on_torch_device = cat("cuda:", s.ordinal)});
}

}  // namespace

const measure dnn_train{
    .name = "dnn.train",
    .unit = "images/s",
    .ours = "steps of a ResNet-20 for 32 x 32, batches of 256, activations in bf16, by dnn requests",
    .raw = "the same network in PyTorch, eager, with autocast to bf16 and channels last",
    .goal = {goal::kind::ratio_at_least, 1},
    .run = run};

}  // namespace troupe::bench
