// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A run of the simulation whose steps the fuzzer chooses: it searches for schedules that reach new places in the
// completion of requests, the recovery and the life of workers. All rules are checked.
#include <cstring>

#include "../simulation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::simulation;
  std::uint32_t seed = 0;
  if (size < sizeof seed) return -1;
  std::memcpy(&seed, data, sizeof seed);
  static run_record record;
  record.aborts = true;
  simulation(seed, record, {}, {data + sizeof seed, size - sizeof seed}).run();
  return 0;
}
