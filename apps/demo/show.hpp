// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/terminal.hpp>
#include <apps/demo/faults.hpp>
#include <apps/demo/serve.hpp>

namespace demo {

/// Shows a run while it goes on: one line that is drawn again on a terminal, a line each second elsewhere.
class progress {
 public:
  explicit progress(const troupe::apps::terminal& t) noexcept : t_(t) {}
  void show(const standing& s);
  void clear();

 private:
  const troupe::apps::terminal& t_;
  double next_s_ = 1;
};

/// The table of clients, and what it cost.
std::string table(const run_record& run, const troupe::apps::terminal& t);

/// All of it for programs. `plot` is where the picture is; empty: nowhere.
std::string json(const run_record& run, const std::vector<act>& acts, const std::string& plot, bool good);

}  // namespace demo
