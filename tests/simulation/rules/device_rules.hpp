// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/simulation/clients/client_buffers.hpp>
#include <tests/simulation/device_under_test.hpp>
#include <tests/simulation/request_log.hpp>

namespace troupe::simulation {

/// Checks the device's own decisions: it restarts within its budget, stops only when that is spent, and kills no worker
/// without a reason.
class device_rules {
 public:
  device_rules(run_state& run, device_under_test& device, request_log& log, client_buffers& buffers)
      : run_(run), device_(device), log_(log), buffers_(buffers) {}

  /// The device lets this worker serve, and reads its channel from now on.
  void worker_will_serve(simulated_worker& w);
  void worker_killed(simulated_worker& w);

  /// A worker has died, which ends a generation of the memory.
  void begin_generation(std::uint64_t generation);
  /// Checks the workers that were killed in this step.
  void check_killed();
  void check_state();

 private:
  bool deserved_to_die(const simulated_worker& w) const;
  std::size_t recoveries_within(std::int64_t window) const;

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  client_buffers& buffers_;
  device_state state_ = device_state::starting;
  simulated_worker* killed_without_reason_ = nullptr;  // in this step
  std::vector<std::int64_t> recoveries_;               // when each was seen
  std::size_t losses_ = 0;
  std::int64_t waiting_since_ = 0;  // for a worker
};

}  // namespace troupe::simulation
