// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/measure.hpp>
#include <cstdio>

namespace troupe::bench {

bool goal::met(const figures& f) const noexcept {
  if (!f.objection.empty() || !f.missed.empty()) return false;
  switch (what) {
    case kind::ours_at_most:
      return f.ours <= limit;
    case kind::at_most_above_raw:
      return f.raw > 0 && f.ours <= f.raw + limit;
    case kind::ratio_at_most:
      return f.raw > 0 && f.ratio() <= limit;
    case kind::ratio_at_least:
      return f.raw > 0 && f.ratio() >= limit;
    case kind::none:
      return true;
  }
  return false;
}

std::string goal::text(std::string_view unit) const {
  if (what == kind::none) return "none";
  char number[32];
  std::snprintf(number, sizeof number, "%g", limit);
  if (what == kind::ours_at_most) return std::string("ours <= ") + number + " " + std::string(unit);
  if (what == kind::at_most_above_raw) return std::string("ours <= raw + ") + number + " " + std::string(unit);
  return std::string(what == kind::ratio_at_most ? "ratio <= " : "ratio >= ") + number;
}

}  // namespace troupe::bench
