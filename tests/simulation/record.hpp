// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace troupe::simulation {

/// The record of a run that remains when its process is gone: memory shared by the process that runs schedules and the
/// one that watches it. Nothing in it is allocated.
struct run_record {
  struct event {
    const char* what;  ///< a literal, at the same address in both processes
    std::uint32_t step;
    std::uint64_t a, b;
  };
  static constexpr std::size_t kept = 256;

  std::uint64_t seed = 0;
  std::uint64_t finished = 0;  ///< schedules
  std::uint64_t hash = 0;      ///< of all events of the last run
  std::uint64_t hash_of_all = 0;
  std::uint32_t steps = 0;
  std::uint32_t events = 0;
  std::uint64_t recoveries = 0, garbage = 0, kept_requests = 0, answers = 0, failures = 0;  ///< over all runs
  bool violated = false;
  bool aborts = false;  ///< a broken rule is printed and aborts the process, as a fuzzer requires
  char violation[512] = {};
  std::array<event, kept> last{};

  void begin(std::uint64_t s) noexcept {
    seed = s;
    hash = 0xcbf29ce484222325u;
    steps = events = 0;
    violated = false;
    violation[0] = '\0';
  }
  void note(const char* what, std::uint64_t a = 0, std::uint64_t b = 0) noexcept {
    const auto mix = [this](std::uint64_t v) { hash = (hash ^ v) * 0x100000001b3u; };
    for (const char* c = what; *c != '\0'; ++c) mix(static_cast<unsigned char>(*c));
    mix(a);
    mix(b);
    last[events++ % kept] = {what, steps, a, b};
  }
  /// Records the broken rule, and ends the process.
  [[noreturn]] void fail(const std::string& rule) noexcept;
  /// Formats the last `n` events, one per line.
  std::string tail(std::uint32_t n) const;
};

}  // namespace troupe::simulation
