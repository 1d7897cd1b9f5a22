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
  double seconds;  ///< the intended duration
  std::uint64_t right, wrong, failed, under_way;
  std::uint64_t memory_bytes;
  const std::vector<moment>& before;
};

/// Puts a service in front of the network, lets clients ask it, injects faults meanwhile, and returns what the clients
/// saw. Calls `watch` with each moment, ten a second, even after the end while answers are missing. Fails if not a
/// single question is answered.
troupe::result<run_record> serve(const troupe::device& gpu, std::shared_ptr<network> net, const model& numbers,
                                 const load& l, const std::function<void(const standing&)>& watch);

}  // namespace demo
