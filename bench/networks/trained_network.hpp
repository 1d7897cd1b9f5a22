// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::bench {

/// A network that is trained on a device. bench/torch_train.py has the same network with the same values.
class trained_network {
 public:
  virtual ~trained_network() = default;
  /// Sends all requests of a step with tell: forward, backward, and the update of the weights.
  virtual void step() = 0;
  /// Waits, and returns the loss of the last step.
  virtual float loss() const = 0;
};

}  // namespace troupe::bench
