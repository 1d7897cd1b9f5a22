// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "answer_rules.hpp"
#include "device_rules.hpp"

namespace troupe::simulation {

/// Checks what must be true after every step.
class rules {
 public:
  rules(run_state& run, device_under_test& device, request_log& log, client_buffers& buffers, device_rules& of_device)
      : run_(run),
        device_(device),
        log_(log),
        buffers_(buffers),
        of_device_(of_device),
        of_answers_(run, device, log) {}

  void check();

 private:
  bool judge_answers(bool distrust);
  void check_seals() const;
  void check_deadlines();
  void check_validity() const;

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  client_buffers& buffers_;
  device_rules& of_device_;
  answer_rules of_answers_;
  bool distrust_ = false;  // the device may have trusted a dishonest worker in this step
};

}  // namespace troupe::simulation
