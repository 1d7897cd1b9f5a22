// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/run.hpp>
#include <apps/cli/terminal.hpp>

namespace chaos {

/// Shows one line of progress: redrawn on a terminal, printed every second elsewhere.
class progress {
 public:
  explicit progress(const troupe::apps::terminal& t) noexcept : t_(t) {}
  void show(const standing& now);
  void clear();

 private:
  const troupe::apps::terminal& t_;
  double next_s_ = 1;
};

/// Formats the faults by kind with their recoveries, then the answers, then what is wrong.
std::string table(const report& r, const troupe::apps::terminal& t);

/// Formats the whole report as JSON.
std::string json(const report& r);

}  // namespace chaos
