// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/model.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

namespace demo {

/// The network on a device. Its weights are uploaded and its kernels compiled once. Both survive the loss of a worker:
/// the weights are sealed, and the next worker builds the program again.
class network {
 public:
  /// Precondition: the model outlives the network.
  network(const troupe::device& gpu, const model& m);

  /// Completes when the kernels are compiled, with how long that took and where they came from, or fails with the
  /// compiler's messages.
  troupe::pending<troupe::kernel::build_summary> compiled() const { return program_.summary(); }

  /// Uploads weights again that a fault lost before they were sealed. The upload is queued like every request. Does
  /// nothing if no weights are lost.
  void renew();

  /// Queues all requests that compute a batch: features, one column per question, to as many columns of classes. Does
  /// not wait for any of them: an error on the way arrives with the answer.
  troupe::pending<std::vector<float>> answer(const std::vector<float>& features, std::int64_t questions) const;

 private:
  struct layer_on_device {
    std::int64_t inputs, outputs;
    troupe::buffer<float> weights, bias;
  };
  void keep(const troupe::buffer<float>& where, const std::vector<float>& values) const;

  troupe::device gpu_;
  const model& model_;
  troupe::jit::program program_;
  troupe::kernel::function gelu_, softmax_;
  std::vector<layer_on_device> layers_;
};

}  // namespace demo
