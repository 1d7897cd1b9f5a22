// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace troupe::simulation {

void run_record::fail(const std::string& rule) noexcept {
  violated = true;
  std::snprintf(violation, sizeof violation, "%s", rule.c_str());
  if (aborts) {
    std::fprintf(stderr, "%s\n%s", violation, tail(60).c_str());
    std::abort();
  }
  ::_exit(2);
}

std::string run_record::tail(std::uint32_t n) const {
  n = std::min({n, events, static_cast<std::uint32_t>(kept)});
  std::string out;
  for (std::uint32_t i = events - n; i < events; ++i) {
    const event& e = last[i % kept];
    out += "  step " + std::to_string(e.step) + ": " + e.what;
    if (e.a != 0 || e.b != 0) out += " " + std::to_string(e.a);
    if (e.b != 0) out += " " + std::to_string(e.b);
    out += '\n';
  }
  return out;
}

}  // namespace troupe::simulation
