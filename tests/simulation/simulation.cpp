// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

namespace troupe::simulation {

simulation::simulation(std::uint64_t seed, run_record& record, const omitted_steps& omitted,
                       std::span<const std::uint8_t> choices)
    : scene(record),
      run_(seed, record, choices),
      device_(
          run_, *this,
          [this](pending_core& answer, const std::function<bool()>& ready) { clients_.block_in_call(answer, ready); }),
      clients_(run_, device_, log_, buffers_, calls_),
      of_execution_(run_, device_, log_),
      of_device_(run_, device_, log_, buffers_),
      rules_(run_, device_, log_, buffers_, of_device_),
      schedule_(run_, device_, log_, calls_, clients_, rules_, omitted),
      ending_(run_, device_, log_, buffers_, calls_, schedule_, rules_) {}

void simulation::run() {
  while (schedule_.step()) {
  }
  ending_.run();
}

}  // namespace troupe::simulation
