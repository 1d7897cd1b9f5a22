// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/model.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

namespace demo {

/// The network on a device. Its weights are uploaded, and its kernels compiled, once for all requests; and again by
/// `renew`, when a fault took them along.
class network {
 public:
  /// The model must live as long.
  network(const troupe::device& gpu, const model& m);

  /// Answered when the kernels are compiled, with how long that took and where they came from; or with what the
  /// compiler says.
  troupe::pending<troupe::kernel::build_summary> compiled() const { return program_.summary(); }

  /// Brings back what a fault took. Queued, like everything else; does nothing when nothing is missing.
  void renew();

  /// Queues all that turns a batch of features, one column for each question, into as many columns of classes. Awaits
  /// nothing: whatever goes wrong on the way arrives with the answer.
  troupe::pending<std::vector<float>> answer(const std::vector<float>& features, std::int64_t questions) const;

 private:
  struct layer_on_device {
    std::int64_t inputs, outputs;
    troupe::buffer<float> weights, bias;
  };
  troupe::device gpu_;
  const model& model_;
  std::uint64_t generation_;  // that the program was made in
  troupe::jit::program program_;
  troupe::kernel::function gelu_, softmax_;
  std::vector<layer_on_device> layers_;
};

}  // namespace demo
