// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <troupe/memory/access_requests.hpp>
#include <troupe/memory/copy_requests.hpp>
#include <troupe/memory/peer_requests.hpp>
#include <troupe/request/checker.hpp>

/// Requests of the library actor `memory`, which `device` sends on behalf of the user.
namespace troupe::memory {

/// Completes when all requests sent before it have completed.
struct fence {
  std::uint32_t unused = 0;
  static constexpr std::string_view not_recorded = "it waits for the whole device";
  TROUPE_REQUEST("memory.sync", unused)
  void check(checker&) const {}
};

/// Returns `value` and does nothing else: measures a round trip.
struct ping {
  std::uint64_t value;
  using reply = std::uint64_t;
  TROUPE_REQUEST("memory.ping", value)
  void check(checker&) const {}
};

}  // namespace troupe::memory
