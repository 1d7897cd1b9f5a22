// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/network.hpp>
#include <atomic>
#include <troupe/actor/stage.hpp>
#include <troupe/async/promise.hpp>

namespace demo {

using classes = std::array<float, shape::classes>;

/// A client's question: features, which must live until the answer, and the promise for the answer.
struct question {
  const std::vector<float>* features;
  troupe::promise<classes> reply;
};

/// Counts that any thread may read while the service runs.
struct batch_counts {
  std::atomic<std::uint64_t> batches{0}, questions{0};
  std::atomic<std::uint64_t> repeated{0};  ///< batches that a fault lost and that were sent again
};

/// The actor that serves questions with the network. A question that arrives while the device is busy waits for the
/// next batch, which takes all waiting questions: a single client is answered at once, and many clients take the device
/// hardly more time. It needs no timer and no lock. If a fault loses a batch, the batch is sent again; the clients only
/// notice that the answer took longer.
class batcher {
 public:
  static constexpr std::size_t largest_batch = 64;
  static constexpr int batches_under_way = 2;  ///< while one is being computed, the next one is sent

  batcher(troupe::actor_context<batcher>& self, std::shared_ptr<network> net, batch_counts& counts)
      : self_(self), net_(std::move(net)), counts_(counts) {}

  /// The message that the device has answered a batch.
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

/// Sends a question to the service. Thread-safe.
troupe::pending<classes> ask(const troupe::actor_ref<batcher>& service, const std::vector<float>& features);

}  // namespace demo
