// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <string>
#include <troupe/base/result.hpp>

namespace troupe::bench {

/// Prints the head of the table, with the machine, and with the GPU if one is measured.
void print_head(const settings& how);
/// Prints one measure's line, and its notes below.
void print_row(const measure& m, const result<figures>& found);
/// Returns {"name","ours","raw","unit","ratio","goal","ok","why"} on one line. A measure that did not run has nulls for
/// its figures, and is not ok. `why` says what is wrong; it is null if nothing is wrong, or if only the goal was
/// missed.
std::string json_line(const measure& m, const result<figures>& found);
/// Returns {"name","unit","ours","raw","goal"} on one line, as --list shows them.
std::string json_line(const measure& m);

/// Counts the outcomes of all measures.
class summary {
 public:
  void add(const measure& m, const result<figures>& found) noexcept;
  /// Returns text such as "16 of 17 goals met, 1 not run".
  std::string text() const;
  /// Returns 1 if a measure did not run or its result is invalid; with `check` also if a goal was not met.
  int exit_code(bool check) const noexcept;

 private:
  int all_ = 0, met_ = 0, not_run_ = 0, objected_ = 0;
};

}  // namespace troupe::bench
