// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/device/options.hpp>
#include <troupe/memory/copying/staging.hpp>

#include <tests/simulation/workers/damaged_word.hpp>
#include "random.hpp"
#include "record.hpp"

namespace troupe::simulation {

/// The settings that the seed chooses before a run begins.
struct run_settings {
  device_options options;
  staging_sizes staging;
  std::uint32_t steps;
  std::uint32_t faults_percent, client_percent, drive_percent;  ///< shares of the steps
  std::uint32_t max_depth;                                      ///< steps that may nest inside running requests
  bool garbage = false;                                         ///< workers write garbage into the shared memory
  bool hostile_starts = false;                                  ///< workers may fail to start or to react
  bool deadly = false;                                          ///< some requests kill the worker that runs them
  bool transfers = false;                                       ///< most requests are transfers that go in parts
  bool wild = false;                                            ///< workers write to random places of device memory
  bool sequences = false;   ///< most requests can run in one call, one after the other
  bool repetitive = false;  ///< clients send the same few data again and again, and some of them kill
};
run_settings draw_settings(random_bits& r);
/// Short runs whose only fault is the damage, and in which a request that is not answered is a hang.
run_settings draw_settings_for_damage(random_bits& r);

/// A purpose with its own random numbers, which do not depend on how many the other purposes draw.
enum class stream : std::uint64_t { step, setup, worker, end, inside_request, follow_up, deadly_request };

/// The state that all parts of a run share.
struct run_state {
  /// Each byte of `choices`, if there are any, changes what one step does, in this order.
  run_state(std::uint64_t seed, run_record& record, std::span<const std::uint8_t> choices = {});

  random_bits random(stream purpose, std::uint64_t number = 0) const noexcept {
    std::uint64_t from = damage ? damage->base : seed;
    if (purpose == stream::step && number - 1 < choices.size()) from ^= std::uint64_t{choices[number - 1]} << 32;
    return {from, (static_cast<std::uint64_t>(purpose) << 40) + number};
  }
  [[noreturn]] void violated(const std::string& rule) const { record.fail(rule); }

  const std::uint64_t seed;
  const std::span<const std::uint8_t> choices;
  const std::optional<damaged_word> damage;
  run_record& record;
  random_bits setup;
  const run_settings settings;
  bool calm = false;  ///< True at the end: no more faults, and clients send nothing more
};

}  // namespace troupe::simulation
