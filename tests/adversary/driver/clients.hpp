// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

namespace adversary {

/// The results that honest clients of one device have received.
struct client_counts {
  std::atomic<std::uint64_t> right{0}, lost{0};  ///< chains with the right result; chains with a typed error
  std::atomic<std::uint64_t> wrong_data{0};      ///< requests that succeeded with wrong data
  std::atomic<std::uint64_t> wrong_success{0};   ///< requests that succeeded although they cannot
  std::atomic<std::uint64_t> stopped{0};         ///< requests after which the device had stopped
  std::atomic<std::int64_t> longest_ns{0};       ///< the longest time of a part of a chain

  void count(const troupe::error& e);
  /// Returns the error after which the device had stopped, or else the first one.
  std::string first_error();

 private:
  std::mutex lock_;
  std::string first_;
};

/// Sends chains of requests: an upload, a fill, a product by blas, a kernel, a download; and requests that must fail.
class honest_client {
 public:
  /// If `asks_for_memory`, chains also use memory that only a worker can allocate.
  honest_client(troupe::device gpu, client_counts& counts, bool asks_for_memory);
  /// Runs one chain. Returns true if everything was right.
  bool step(std::uint64_t number);
  /// Returns how long the current part of the chain has been running.
  std::int64_t waiting_ns() const;

 private:
  template <class F>
  void time(F&& part);
  bool compute(std::uint64_t number);
  void fail(std::uint64_t number);

  struct kernel_cache;
  troupe::device gpu_;
  client_counts& counts_;
  bool asks_for_memory_;
  std::shared_ptr<kernel_cache> kernels_;
  std::atomic<std::int64_t> since_ns_{0};
};

/// Threads that run chains until they are stopped.
class client_threads {
 public:
  client_threads(const troupe::device& gpu, client_counts& counts, int threads, bool asks_for_memory);
  ~client_threads();
  /// Returns how long the client that waits longest has been waiting.
  std::int64_t waiting_ns() const;

 private:
  std::atomic<bool> end_{false};
  std::vector<std::unique_ptr<honest_client>> clients_;
  std::vector<std::thread> threads_;
};

}  // namespace adversary
