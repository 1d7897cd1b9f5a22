// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/networks/residual_network.hpp>
#include <string>

namespace troupe::bench {

/// Training of a residual network by requests, and the same in PyTorch.
struct training {
  residual_network::extents network;
  int steps = 20;  ///< of one round
  int rounds = 15;
  std::string on_torch_device{};  ///< PyTorch's name of the device; "": without PyTorch
};
/// Returns images per second. They are wrong if the loss does not decrease, or if the first one is not PyTorch's.
figures images_per_second(const settings& s, const training& t);

}  // namespace troupe::bench
