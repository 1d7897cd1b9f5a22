// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <string>
#include <troupe/base/result.hpp>

namespace troupe::bench {

/// The head of the table, which says on what machine, and which GPU where one is measured.
void print_head(const settings& how);
/// One measure's line, and what it has to say below it.
void print_row(const measure& m, const result<figures>& found);
/// {"name","ours","raw","unit","ratio","goal","ok","why"} on one line. What was not measured is null, and not ok. `why`
/// is what is not as it should be; null: nothing, or the goal.
std::string json_line(const measure& m, const result<figures>& found);
/// {"name","unit","ours","raw","goal"} on one line, in the words of --list.
std::string json_line(const measure& m);

/// What came of all measures.
class summary {
 public:
  void add(const measure& m, const result<figures>& found) noexcept;
  /// "16 of 17 goals met, 1 not run"
  std::string text() const;
  /// 1 when something was not measured, or what was measured is not right; with `check` also when a goal was not met.
  int exit_code(bool check) const noexcept;

 private:
  int all_ = 0, met_ = 0, not_run_ = 0, objected_ = 0;
};

}  // namespace troupe::bench
