// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/model.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

namespace demo {

/// The network on a device. Its weights are uploaded, and its kernels compiled, once for all requests. Both outlive the
/// workers: the weights are sealed, and programs are made again where they are missing.
class network {
 public:
  /// The model must live as long.
  network(const troupe::device& gpu, const model& m);

  /// Answered when the kernels are compiled, with how long that took and where they came from; or with what the
  /// compiler says.
  troupe::pending<troupe::kernel::build_summary> compiled() const { return program_.summary(); }

  /// Brings back weights that a fault took before they were sealed. Queued, like everything else; does nothing when
  /// nothing is missing.
  void renew();

  /// Queues all that turns a batch of features, one column for each question, into as many columns of classes. Awaits
  /// nothing: whatever goes wrong on the way arrives with the answer.
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
