// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <tests/simulation/clients/clients.hpp>
#include <tests/simulation/rules/rules.hpp>

namespace troupe::simulation {

/// The steps of a run to leave out, by number.
using omitted_steps = std::vector<bool>;

/// Chooses what happens next. Each step has its own random numbers, so that leaving some out does not change the
/// others.
class schedule {
 public:
  schedule(run_state& run, device_under_test& device, request_log& log, blocking_calls& calls, clients& all,
           rules& check, const omitted_steps& omitted)
      : run_(run), device_(device), log_(log), calls_(calls), clients_(all), rules_(check), omitted_(omitted) {}

  /// Takes the next step, and checks the rules. Returns false if none is left.
  bool step();
  /// Takes steps while a worker is inside a request, which may kill it.
  void run_meanwhile(simulated_worker& w);
  /// Takes a step while a worker waits for the application.
  void await_application(std::uint64_t ticket, simulated_worker& w);

  /// Runs a job, fires a timer or reads a message on the control loop. Returns false if there is none.
  bool loop_acts(random_bits& r);
  /// Lets a worker take a step of its own. Returns false if none can.
  bool workers_act(random_bits& r);
  /// Advances the clock to the next timer, and fires it.
  bool skip_to_next_timer();

 private:
  void act(random_bits& r);
  void inject_fault(random_bits& r);
  void damage_word();

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  blocking_calls& calls_;
  clients& clients_;
  rules& rules_;
  const omitted_steps& omitted_;
  std::uint32_t depth_ = 0;       // of steps inside requests
  std::uint32_t idle_waits_ = 0;  // for the application, after the last step
};

}  // namespace troupe::simulation
