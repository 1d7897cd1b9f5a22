// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "run_state.hpp"

#include <chrono>

namespace troupe::simulation {
namespace {

device_options draw_options(random_bits& r) {
  device_options o;
  o.engine = "simulated";
  o.name = "simulated";
  o.isolation = r.percent(94) ? isolation::process : isolation::thread;
  o.when_full = when_full::refuse;  // clients have no thread that could wait
  o.mailbox_capacity = 1u << r.between(1, 4);
  o.memory_limit = 256 * r.between(4, 16) + (r.percent(50) ? 4096 * r.between(1, 3) : 0);
  o.host_memory_limit = 256 * r.between(4, 24);
  o.lanes = r.percent(60) ? lane_policy::pooled : r.percent(50) ? lane_policy::single : lane_policy::per_actor;
  o.lane_pool = r.between(1, 4);
  o.helpers = r.between(1, 2);
  o.inline_bytes = r.percent(50) ? 0 : 1 << 20;
  o.coalesce = r.percent(50);
  o.standbys = r.percent(50) ? 0 : r.between(1, 2);
  o.restarts = r.between(0, 5);
  o.restart_window = time_span::of_seconds(r.percent(50) ? 1 : 60);
  o.quarantine_after = r.between(0, 3);
  o.salvage = r.percent(50) ? salvage::strict : salvage::untouched;
  o.start_timeout = time_span::of_seconds(1);
  o.close_timeout = time_span::of_seconds(1);
  o.heartbeat_timeout = r.percent(70) ? time_span::of_seconds(1) : time_span::for_ever();
  o.runtime_folder = "/nowhere";
  o.wait = wait_policy::efficient;
  return o;
}

}  // namespace

run_settings draw_settings(random_bits& r) {
  run_settings s{};
  device_options& o = s.options = draw_options(r);
  s.steps = r.between(30, 250);
  s.faults_percent = r.percent(20) ? 0 : r.between(1, 6);
  s.client_percent = r.between(10, 50);
  s.drive_percent = r.between(2, 30);
  s.max_depth = r.between(0, 4);
  s.garbage = o.isolation == isolation::process && r.percent(30);
  s.hostile_starts = r.percent(25);
  s.wild = o.isolation == isolation::process && r.percent(15);
  if (s.wild) o.memory_limit += 3 * 4096;
  s.deadly = o.isolation == isolation::process && r.percent(20);
  const bool in_parts = r.percent(50);
  s.staging = in_parts ? staging_sizes{12, 8, r.between(1, 3)} : staging_sizes();
  s.transfers = in_parts && r.percent(25);
  if (s.deadly && r.percent(50)) o.salvage = salvage::untouched;
  s.garbage |= s.transfers && o.isolation == isolation::process && r.percent(30);
  s.deadly |= s.transfers && o.isolation == isolation::process;
  s.repetitive = o.isolation == isolation::process && r.percent(8);
  if (s.repetitive) {
    s.garbage = s.wild = s.deadly = s.hostile_starts = false;
    s.faults_percent = 0;
    s.steps += 200;
    o.quarantine_after = r.between(1, 2);
    o.restarts = r.between(3, 8);
    o.mailbox_capacity = 8;
  }
  s.sequences = r.percent(25);
  if (s.sequences) {
    o.coalesce = true;
    o.mailbox_capacity = 16;
    if (r.percent(50)) o.lanes = lane_policy::single;
    if (o.isolation == isolation::process && !s.repetitive && r.percent(50)) {
      s.deadly = true;
      o.salvage = salvage::untouched;
      o.restarts = 5;
    }
  }
  return s;
}

run_settings draw_settings_for_damage(random_bits& r) {
  run_settings s = draw_settings(r);
  s.steps = damaged_word::steps;
  s.faults_percent = 0;
  s.client_percent = r.between(25, 50);
  s.drive_percent = r.between(2, 20);
  s.garbage = s.hostile_starts = s.deadly = s.wild = s.repetitive = s.sequences = false;
  if (r.percent(50)) s.staging = staging_sizes{12, 8, r.between(1, 3)};
  device_options& o = s.options;
  o.isolation = isolation::process;
  o.mailbox_capacity = 2;
  o.memory_limit = o.host_memory_limit = 64 * 256;
  o.standbys = 0;
  o.restarts = 5;
  o.restart_window = time_span::of_seconds(60);
  o.quarantine_after = 0;
  o.run_timeout = time_span(std::chrono::milliseconds(500));
  return s;
}

run_state::run_state(std::uint64_t seed, run_record& record, std::span<const std::uint8_t> choices)
    : seed(seed),
      choices(choices),
      damage(damaged_word::in_seed(seed)),
      record(record),
      setup(random(stream::setup)),
      settings(damage ? draw_settings_for_damage(setup) : draw_settings(setup)) {
  record.begin(seed);
}

}  // namespace troupe::simulation
