// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::bench {

/// How to measure.
struct settings {
  bool quick = false;           ///< fewer rounds: the same figures, less certain
  std::string runtime_folder;   ///< where this program is, and the worker with it
  std::string engine = "host";  ///< of the device that is measured
  std::uint32_t ordinal = 0;    ///< which of the engine's devices

  int rounds(int usual) const noexcept { return quick ? (usual + 2) / 3 : usual; }
};

/// What one measure found, in its unit.
struct figures {
  double ours = 0;
  double raw = 0;              ///< the bare counterpart, measured in the same run
  std::string note = {};       ///< what else is worth knowing
  std::string objection = {};  ///< something that was promised and does not hold: the figures are worth nothing
  std::string missed = {};     ///< a second goal that was not met, in words

  /// ours / raw; 0 when there is no counterpart to divide by.
  double ratio() const noexcept { return raw == 0 ? 0 : ours / raw; }
};

/// When a measure is good enough.
struct goal {
  enum class kind : std::uint8_t {
    ours_at_most,
    at_most_above_raw,  ///< ours may be larger by the limit
    ratio_at_most,
    ratio_at_least
  };
  kind what;
  double limit;

  bool met(const figures& f) const noexcept;
  /// "ours <= 150 ns", "ours <= raw + 2 us", "ratio >= 0.98"
  std::string text(std::string_view unit) const;
};

/// One line of the table.
struct measure {
  std::string_view name;
  std::string_view unit;
  std::string_view ours;  ///< what is measured
  std::string_view raw;   ///< and against what
  bench::goal goal;
  /// Throws `bad_result` when it cannot be measured here, with the reason.
  figures (*run)(const settings&);
};

}  // namespace troupe::bench
