// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/clients.hpp>
#include <apps/demo/record.hpp>
#include <functional>

namespace demo {

/// The state of a run, for its `watch` function.
struct standing {
  const moment& now;
  double seconds;  ///< how long clients will ask
  std::uint64_t right, wrong, failed, under_way;
  std::uint64_t memory_bytes;
  const std::vector<moment>& before;
};

/// Starts a service with the network, lets clients ask it, injects faults meanwhile, and returns what the clients
/// observed. Calls `watch` with each interval, ten times a second, even after the end while answers are missing. Fails
/// if no question is answered.
troupe::result<run_record> serve(const troupe::device& gpu, std::shared_ptr<network> net, const model& numbers,
                                 const load& l, const std::function<void(const standing&)>& watch);

}  // namespace demo
