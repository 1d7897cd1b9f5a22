// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/clients.hpp>

namespace demo {

/// Breaks the device's worker while clients are served, each time in another way, at times that divide the run evenly.
class breaker {
 public:
  breaker(const troupe::device& gpu, const load& l, std::int64_t started_ns);
  ~breaker();
  breaker(const breaker&) = delete;

  /// Waits for the last fault. Returns all faults, including those that others have caused, each with the time until
  /// the device answered again.
  std::vector<event> join();

 private:
  void run();
  std::vector<event> by_others();

  troupe::device gpu_;
  const load load_;
  const std::int64_t started_ns_;
  troupe::device_watch watch_;
  std::vector<event> events_;
  std::thread thread_;
};

}  // namespace demo
