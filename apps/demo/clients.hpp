// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/batcher.hpp>
#include <apps/demo/record.hpp>
#include <mutex>
#include <thread>
#include <troupe/async/thread_pool.hpp>

namespace demo {

/// The clients and their load.
struct load {
  double seconds = 10;
  int blocking = 8, coroutines = 24;
  double open_loop_per_s = 1000;
  int faults = 0;  ///< number of faults that are injected while they ask
};

/// Many clients of one service, each of which checks its answers. They ask for `seconds`:
/// - blocking: each has a thread, which waits for its answer and asks again;
/// - coroutines: the same, but all of them share one thread;
/// - open loop: one thread asks at random times, a fixed number of questions per second whether answers arrive or not,
///   and receives answers through callbacks. Its latencies count from the time at which a question was due, so that a
///   service that stalls cannot hide that.
class clients {
 public:
  clients(troupe::actor_ref<batcher> service, const std::vector<sample>& samples, const load& l);
  /// Waits for all clients.
  ~clients();
  clients(const clients&) = delete;

  const tally& of(kind k) const noexcept { return tallies_[static_cast<std::size_t>(k)]; }
  std::uint64_t under_way() const noexcept;
  std::int64_t started_ns() const noexcept { return started_ns_; }
  std::int64_t last_answer_ns() const noexcept { return last_answer_ns_.load(); }
  /// Waits until the clients have stopped and every question has its answer.
  void join();
  /// Returns the first error that a client received.
  std::string first_failure() const;

 private:
  tally& entry(kind k) noexcept { return tallies_[static_cast<std::size_t>(k)]; }
  const sample& sample_for(std::uint64_t number) const noexcept { return samples_[number % samples_.size()]; }
  void count(kind k, const sample& asked, const troupe::result<classes>& answer, std::int64_t since_ns);
  void block(std::uint64_t first);
  static troupe::task<troupe::result<void>> run(clients* self, std::uint64_t first);
  void send_at_random_moments();

  troupe::actor_ref<batcher> service_;
  const std::vector<sample>& samples_;
  load load_;
  std::int64_t started_ns_, until_ns_;
  std::atomic<std::int64_t> last_answer_ns_{0};
  std::array<tally, kinds.size()> tallies_;
  mutable std::mutex lock_;
  std::string first_failure_;  // guarded by lock_
  troupe::thread_pool pool_{1};
  std::vector<troupe::pending<void>> coroutines_;
  std::vector<std::thread> threads_;
};

}  // namespace demo
