// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule.hpp"

namespace troupe::simulation {

/// The end of a run, without further faults: every request is answered, the device serves, and it closes without
/// leaving anything behind.
class ending {
 public:
  ending(run_state& run, device_under_test& device, request_log& log, client_buffers& buffers, blocking_calls& calls,
         schedule& steps, rules& check)
      : run_(run), device_(device), log_(log), buffers_(buffers), calls_(calls), schedule_(steps), rules_(check) {}

  void run();

 private:
  void end_faults();
  void prove_service();
  bool reset_if_stopped();
  void lift_quarantine();
  void prove_transfers();
  void close();
  void check_nothing_is_held();
  void check_statistics();
  /// Lets everything except clients and faults act until `done`. Fails with `failure` if that takes too long.
  template <class Done>
  void settle(const char* failure, const Done& done);
  void settle_idle(const char* failure);
  bool is_steady() const;

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  client_buffers& buffers_;
  blocking_calls& calls_;
  schedule& schedule_;
  rules& rules_;
};

}  // namespace troupe::simulation
