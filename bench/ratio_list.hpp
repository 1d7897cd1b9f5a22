// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {

/// Collects the rates of cases that have equal weights: prints a line for each, and returns their geometric means.
class ratio_list {
 public:
  /// Adds a case. `remark` follows its figures. `wrong`: how the results differ, or empty.
  void add(const std::string& name, const pair_of_medians& rates, const std::string& remark, const std::string& wrong) {
    const double ratio = rates.ours / rates.raw;
    char text[80];
    std::snprintf(text, sizeof text, ": %.4g, raw %.4g, ratio %.3f", rates.ours, rates.raw, ratio);
    lines_ += cat("\n  ", name, text, remark);
    ours_ += std::log(rates.ours), raw_ += std::log(rates.raw), ++count_;
    if (ratio < least_) least_ = ratio, worst_ = name;
    if (wrong_.empty() && !wrong.empty()) wrong_ = cat(name, ": ", wrong);
  }
  const std::string& lines() const noexcept { return lines_; }
  /// Returns the geometric means, with a note about the case with the least ratio. The goal is missed if that ratio is
  /// below `each_at_least`.
  figures mean(double each_at_least = 0) const {
    figures f{.objection = wrong_};
    if (count_ == 0) return f;
    f.ours = std::exp(ours_ / count_), f.raw = std::exp(raw_ / count_);
    char text[60];
    std::snprintf(text, sizeof text, "least %.3f at ", least_);
    f.note = text + worst_;
    if (least_ < each_at_least) {
      std::snprintf(text, sizeof text, "every ratio >= %.2f", each_at_least);
      f.missed = text;
    }
    return f;
  }

 private:
  double ours_ = 0, raw_ = 0, least_ = std::numeric_limits<double>::infinity();
  int count_ = 0;
  std::string lines_, worst_, wrong_;
};

}  // namespace troupe::bench
