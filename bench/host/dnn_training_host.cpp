// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measures.hpp>
#include <bench/networks/training.hpp>

namespace troupe::bench {
namespace {

figures run(const settings& s) {
  return images_per_second(s, {.network = {.images = 32}, .steps = 6, .rounds = 5, .on_torch_device = "cpu"});
}

}  // namespace

const measure dnn_train_host{
    .name = "dnn.train.host",
    .unit = "images/s",
    .ours = "steps of a ResNet-20 for 32 x 32, batches of 32, activations in bf16, by dnn requests",
    .raw = "the same network in PyTorch on the processor, eager, with autocast to bf16 and channels last",
    .goal = {goal::kind::none},
    .run = run};

}  // namespace troupe::bench
