// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/networks/bottleneck_network.hpp>
#include <bench/networks/residual_network.hpp>
#include <bench/networks/trained_network.hpp>
#include <bench/networks/transformer_block.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::bench {

/// Training of a network by requests, and the same in PyTorch.
struct training {
  std::function<std::unique_ptr<trained_network>(const device&)> make;
  std::vector<std::string> in_torch;  ///< the network's name and numbers for bench/torch_train.py
  double samples;                     ///< images or tokens of one step
  int steps = 20;                     ///< of one round
  int rounds = 15;
  std::string on_torch_device{};  ///< PyTorch's name of the device; "": without PyTorch
};
training training_of(const residual_network::extents& e);
training training_of(const bottleneck_network::extents& e);
training training_of(const transformer_block::extents& e);

/// Returns samples per second. They are wrong if the loss does not decrease, or if the first one is not PyTorch's.
figures samples_per_second(const settings& s, const training& t);

}  // namespace troupe::bench
