// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::bench {

/// Settings of a measurement.
struct settings {
  bool quick = false;           ///< fewer rounds: the same figures, less precise
  std::string runtime_folder;   ///< folder of this program and the worker
  std::string engine = "host";  ///< engine of the measured device
  std::uint32_t ordinal = 0;    ///< number of the device within the engine

  int rounds(int usual) const noexcept { return quick ? (usual + 2) / 3 : usual; }
};

/// The result of a measure, in the measure's unit.
struct figures {
  double ours = 0;
  double raw = 0;              ///< figure of the bare counterpart, measured in the same run
  std::string note = {};       ///< further information for the table
  std::string objection = {};  ///< why the figures are invalid: a promise was broken; empty if they are valid
  std::string missed = {};     ///< a second goal that was missed, as text; empty if none was

  /// Returns ours / raw, or 0 if there is no counterpart to divide by.
  double ratio() const noexcept { return raw == 0 ? 0 : ours / raw; }
};

/// The goal of a measure: a limit for its figures.
struct goal {
  enum class kind : std::uint8_t {
    ours_at_most,
    at_most_above_raw,  ///< ours may exceed raw by at most the limit
    ratio_at_most,
    ratio_at_least,
    none  ///< no goal: the figures are only reported
  };
  kind what;
  double limit = 0;

  bool met(const figures& f) const noexcept;
  /// Returns text such as "ours <= 150 ns", "ours <= raw + 2 us" or "ratio >= 0.98".
  std::string text(std::string_view unit) const;
};

/// One line of the table.
struct measure {
  std::string_view name;
  std::string_view unit;
  std::string_view ours;  ///< what is measured
  std::string_view raw;   ///< what it is compared with
  bench::goal goal;
  /// Runs the measure. Throws `bad_result` with the reason if it cannot be measured here.
  figures (*run)(const settings&);
};

}  // namespace troupe::bench
