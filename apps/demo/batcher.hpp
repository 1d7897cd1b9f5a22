// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/network.hpp>
#include <atomic>
#include <troupe/actor/stage.hpp>
#include <troupe/async/promise.hpp>

namespace demo {

using classes = std::array<float, shape::classes>;

/// What a client sends: features that live until the answer, and whom to answer.
struct question {
  const std::vector<float>* features;
  troupe::promise<classes> reply;
};

/// What everybody may read while the service runs.
struct batch_counts {
  std::atomic<std::uint64_t> batches{0}, questions{0};
  std::atomic<std::uint64_t> repeated{0};  ///< batches that a fault took along
};

/// The actor in front of the network: who asks while the device is busy waits for the next batch, and all who wait go
/// together. So a single client is answered at once, and a crowd costs the device hardly more. It needs no timer and no
/// lock. When the device loses a batch to a fault, it is asked again: the clients notice that it took longer.
class batcher {
 public:
  static constexpr std::size_t largest_batch = 64;
  static constexpr int batches_under_way = 2;  ///< one is computed while the next is on its way

  batcher(troupe::actor_context<batcher>& self, std::shared_ptr<network> net, batch_counts& counts)
      : self_(self), net_(std::move(net)), counts_(counts) {}

  /// The device has answered a batch.
  struct answered {
    std::vector<question> batch;
    troupe::result<std::vector<float>> classes;
  };
  void handle(question q);
  void handle(answered a);
  void terminate(troupe::exit_reason why);

 private:
  void send_batches();
  void ask_again(std::vector<question> batch);

  troupe::actor_context<batcher>& self_;
  std::shared_ptr<network> net_;
  batch_counts& counts_;
  std::vector<question> waiting_;
  int under_way_ = 0;
};

/// Asks the service; from any thread.
troupe::pending<classes> ask(const troupe::actor_ref<batcher>& service, const std::vector<float>& features);

}  // namespace demo
