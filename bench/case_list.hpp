// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/rounds.hpp>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {

/// Collects the cases of one measure: prints a line for each group of cases, and returns the rates of their sum.
class case_list {
 public:
  /// `scale`: the work per second that is 1 in the measure's unit. `unit`: the text of that unit.
  explicit case_list(double scale, std::string_view unit) : scale_(scale), unit_(unit) {}

  void begin_line(const std::string& text) {
    note_ += cat(note_.empty() ? "" : "\n  ", text, ":");
    line_ = text, is_first_ = true;
  }
  /// Adds a case: `seconds` for `work`, which counts `count` times in the sum. `wrong`: how the results differ, or
  /// empty.
  void add(const std::string& name, double work, int count, const pair_of_medians& seconds, const std::string& wrong) {
    const double ratio = seconds.raw / seconds.ours;
    char text[80];
    std::snprintf(text, sizeof text, " %.3g %s, ratio %.3f", work / seconds.ours / scale_, unit_.c_str(), ratio);
    note_ += cat(is_first_ ? " " : "; ", name, text);
    is_first_ = false;
    work_ += count * work, ours_ += count * seconds.ours, raw_ += count * seconds.raw;
    if (ratio < least_) least_ = ratio, worst_ = cat(line_, ", ", name);
    if (wrong_.empty() && !wrong.empty()) wrong_ = cat(line_, ", ", name, ": ", wrong);
  }
  /// Records a case that cannot be compared, and the reason. The goal then is not met.
  void leave_out(const std::string& name, const std::string& why) {
    note_ += cat(is_first_ ? " " : "; ", name, " left out: ", why);
    is_first_ = false;
    ++left_out_;
  }
  /// Returns the rates of the sum. Its goal is missed if a case has a ratio below `each_at_least`.
  figures total(double each_at_least = 0) const {
    figures f{.note = note_, .objection = wrong_};
    if (left_out_ > 0) f.missed = cat(left_out_, left_out_ == 1 ? " case is" : " cases are", " left out");
    if (work_ == 0) return f;
    f.ours = work_ / ours_ / scale_, f.raw = work_ / raw_ / scale_;
    char text[80];
    std::snprintf(text, sizeof text, "\n  sums %.3f ms, raw %.3f ms; the least ratio %.3f", ours_ * 1e3, raw_ * 1e3,
                  least_);
    f.note += text;
    if (least_ < each_at_least) {
      std::snprintf(text, sizeof text, "every ratio >= %.2f", each_at_least);
      f.missed += cat(f.missed.empty() ? "" : "; ", text, "; the least is at ", worst_);
    }
    return f;
  }

 private:
  double scale_, work_ = 0, ours_ = 0, raw_ = 0, least_ = std::numeric_limits<double>::infinity();
  int left_out_ = 0;
  bool is_first_ = true;
  std::string unit_, note_, line_, wrong_, worst_;
};

}  // namespace troupe::bench
