// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/demo/clients.hpp>
#include <apps/demo/record.hpp>
#include <functional>

namespace demo {

/// How a run stands, for who watches it.
struct standing {
  const moment& now;
  double seconds;  ///< it shall last
  std::uint64_t right, wrong, failed, under_way;
  std::uint64_t memory_bytes;
  const std::vector<moment>& before;
};

/// Puts a service in front of the network, lets clients ask it, injects so many faults meanwhile, and keeps what they
/// saw. `watch` is called with each
/// moment, ten a second, also after the end as long as answers are missing. Fails when not even one question gets an
/// answer.
troupe::result<run_record> serve(const troupe::device& gpu, std::shared_ptr<network> net, const model& numbers,
                                 const load& l, const std::function<void(const standing&)>& watch);

}  // namespace demo
