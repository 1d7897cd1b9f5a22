// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/run.hpp>
#include <apps/cli/terminal.hpp>

namespace chaos {

/// One line while it goes on: drawn again on a terminal, one each second elsewhere.
class progress {
 public:
  explicit progress(const troupe::apps::terminal& t) noexcept : t_(t) {}
  void show(const standing& now);
  void clear();

 private:
  const troupe::apps::terminal& t_;
  double next_s_ = 1;
};

/// Faults by kind with their recoveries, then the answers, then what is wrong.
std::string table(const report& r, const troupe::apps::terminal& t);

/// All of it for programs.
std::string json(const report& r);

}  // namespace chaos
