// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/terminal.hpp>
#include <apps/demo/faults.hpp>
#include <apps/demo/serve.hpp>

namespace demo {

/// Returns the line that shows a run in progress.
std::string progress_text(const standing& s, const troupe::apps::terminal& t);

/// Formats the table of clients, and what the service has used.
std::string table(const run_record& run, const troupe::apps::terminal& t);

/// Formats all results as JSON. `plot` is the path of the picture; empty: there is none.
std::string json(const run_record& run, const std::vector<act>& acts, const std::string& plot, bool good);

}  // namespace demo
