// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/simulation/device_under_test.hpp>
#include <tests/simulation/request_log.hpp>

namespace troupe::simulation {

/// Follows what workers do with requests, and checks that none runs too often, too late, or writes memory that its
/// worker can only read. Ignores tickets that the log does not have.
class execution_rules {
 public:
  execution_rules(run_state& run, const device_under_test& device, request_log& log)
      : run_(run), device_(device), log_(log) {}

  void request_started(std::uint64_t ticket, simulated_worker& w);
  void request_joined_call(std::uint64_t ticket, simulated_worker& w);
  void request_left_call(std::uint64_t ticket, simulated_worker& w);
  void request_finished(std::uint64_t ticket, simulated_worker& w);
  void request_failed(std::uint64_t ticket, simulated_worker& w);
  void chunk_was_overwritten(std::uint64_t ticket, simulated_worker& w);
  void wrote_read_only_memory(std::uint64_t ticket, simulated_worker& w);

 private:
  void note_start(client_request& q, simulated_worker& w) const;

  run_state& run_;
  const device_under_test& device_;
  request_log& log_;
};

}  // namespace troupe::simulation
