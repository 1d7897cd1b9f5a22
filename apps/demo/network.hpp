// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/model.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

namespace demo {

/// The network on a device. Its weights are uploaded and its kernels compiled once for all requests. Both survive
/// workers: the weights are sealed, and programs are rebuilt where they are missing.
class network {
 public:
  /// The model must outlive the network.
  network(const troupe::device& gpu, const model& m);

  /// Answers once the kernels are compiled, with how long that took and where they came from; or fails with the
  /// compiler's message.
  troupe::pending<troupe::kernel::build_summary> compiled() const { return program_.summary(); }

  /// Uploads weights again that a fault lost before they were sealed. Queued like everything else; does nothing if all
  /// are present.
  void renew();

  /// Queues everything that turns a batch of features, one column per question, into as many columns of classes. Awaits
  /// nothing: an error on the way arrives with the answer.
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
