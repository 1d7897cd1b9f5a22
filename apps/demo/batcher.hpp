// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/network.hpp>
#include <atomic>
#include <troupe/actor/stage.hpp>
#include <troupe/async/promise.hpp>

namespace demo {

using classes = std::array<float, shape::classes>;

/// A client's question: features, which must live until the answer, and the promise to answer.
struct question {
  const std::vector<float>* features;
  troupe::promise<classes> reply;
};

/// Figures that any thread may read while the service runs.
struct batch_counts {
  std::atomic<std::uint64_t> batches{0}, questions{0};
  std::atomic<std::uint64_t> repeated{0};  ///< batches lost to a fault
};

/// The actor in front of the network. A question that arrives while the device is busy waits for the next batch, which
/// takes all that wait: a single client is answered at once, and many cost the device hardly more. It needs no timer
/// and no lock. If the device loses a batch to a fault, the batch is sent again: the clients only notice that it took
/// longer.
class batcher {
 public:
  static constexpr std::size_t largest_batch = 64;
  static constexpr int batches_under_way = 2;  ///< one is computed while the next is sent

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

/// Asks the service. Thread-safe.
troupe::pending<classes> ask(const troupe::actor_ref<batcher>& service, const std::vector<float>& features);

}  // namespace demo
