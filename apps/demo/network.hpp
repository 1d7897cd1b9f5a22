// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/model.hpp>
#include <troupe/troupe.hpp>

namespace demo {

/// The network on a device. Its weights are uploaded once, for all requests.
class network {
 public:
  network(const troupe::device& gpu, const model& m);

  /// Queues all that turns a batch of features, one column for each question, into as many columns of classes. Awaits
  /// nothing: whatever goes wrong on the way arrives with the answer.
  troupe::pending<std::vector<float>> answer(const std::vector<float>& features, std::int64_t questions) const;

 private:
  struct layer_on_device {
    std::int64_t inputs, outputs;
    troupe::buffer<float> weights;
  };
  troupe::device gpu_;
  std::vector<layer_on_device> layers_;
};

}  // namespace demo
