// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/simulation/device_under_test.hpp>
#include <tests/simulation/request_log.hpp>

namespace troupe::simulation {

/// Checks answers: a success must be what execution in the order of the requests gives, and a failure or a refusal
/// needs a reason.
class answer_rules {
 public:
  answer_rules(run_state& run, const device_under_test& device, request_log& log)
      : run_(run), device_(device), log_(log) {}

  void judge_success(client_request& q);
  void judge_failure(client_request& q);
  void judge_refusal(client_request& q);
  /// Checks refusals for quarantine, once the data of the request are known: when all before it are answered.
  void check_quarantine();

 private:
  std::vector<word> input_values(const client_request& q, bool& certain) const;
  std::vector<word> expect_answer(const client_request& q, const std::vector<word>& inputs, bool certain) const;
  void judge_seal(const client_request& q) const;
  bool had_to_fail(const client_request& q) const;
  bool may_be_overwritten(const client_request& q) const;
  bool resembles_deadly_request(const client_request& q) const;
  void judge_despite_damage(const client_request& q) const;
  [[noreturn]] void wrong(const char* what, const client_request& q) const;

  run_state& run_;
  const device_under_test& device_;
  request_log& log_;
  std::vector<const client_request*> in_quarantine_;  // refused for that, and not checked yet
};

}  // namespace troupe::simulation
