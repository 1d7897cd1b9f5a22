// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/run.hpp>
#include <apps/cli/terminal.hpp>

namespace chaos {

/// Shows one line of progress: redrawn on a terminal, otherwise printed every second.
class progress {
 public:
  explicit progress(const troupe::apps::terminal& t) noexcept : t_(t) {}
  void show(const standing& now);
  void clear();

 private:
  const troupe::apps::terminal& t_;
  double next_s_ = 1;
};

/// Formats a table of the faults by kind, with recovery times; then a table of the answers, and the complaints.
std::string table(const report& r, const troupe::apps::terminal& t);

/// Formats the whole report as JSON.
std::string json(const report& r);

}  // namespace chaos
