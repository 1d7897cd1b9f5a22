// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/simulation/rules/execution_rules.hpp>
#include "ending.hpp"

namespace troupe::simulation {

/// One run: a device with its clients and workers, from opening to the end, in steps that a seed chooses. Made of parts
/// that are given to each other here; workers report to it what they do.
class simulation final : public scene {
 public:
  simulation(std::uint64_t seed, run_record& record, const omitted_steps& omitted,
             std::span<const std::uint8_t> choices = {});
  /// Returns once the run has ended without breaking a rule; a broken rule ends the process.
  void run();

  void run_meanwhile(simulated_worker& w) override { schedule_.run_meanwhile(w); }
  void await_application(std::uint64_t ticket, simulated_worker& w) override { schedule_.await_application(ticket, w); }
  void request_started(std::uint64_t ticket, simulated_worker& w) override { of_execution_.request_started(ticket, w); }
  void request_joined_call(std::uint64_t ticket, simulated_worker& w) override {
    of_execution_.request_joined_call(ticket, w);
  }
  void request_left_call(std::uint64_t ticket, simulated_worker& w) override {
    of_execution_.request_left_call(ticket, w);
  }
  void request_finished(std::uint64_t ticket, simulated_worker& w) override {
    of_execution_.request_finished(ticket, w);
  }
  void request_failed(std::uint64_t ticket, simulated_worker& w) override { of_execution_.request_failed(ticket, w); }
  void chunk_was_overwritten(std::uint64_t ticket, simulated_worker& w) override {
    of_execution_.chunk_was_overwritten(ticket, w);
  }
  void wrote_read_only_memory(std::uint64_t ticket, simulated_worker& w) override {
    of_execution_.wrote_read_only_memory(ticket, w);
  }
  void worker_will_serve(simulated_worker& w) override { of_device_.worker_will_serve(w); }
  void worker_killed(simulated_worker& w) override { of_device_.worker_killed(w); }
  std::pair<std::uint64_t, std::uint64_t> any_memory(random_bits& r) const override { return buffers_.any_memory(r); }
  void memory_was_overwritten() override { buffers_.doubt_unsealed(); }
  std::int64_t now() const override { return device_.now(); }

 private:
  run_state run_;
  request_log log_;
  client_buffers buffers_;
  blocking_calls calls_;
  device_under_test device_;
  clients clients_;
  execution_rules of_execution_;
  device_rules of_device_;
  rules rules_;
  schedule schedule_;
  ending ending_;
};

}  // namespace troupe::simulation
