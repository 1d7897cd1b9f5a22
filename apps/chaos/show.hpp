// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/chaos/run.hpp>
#include <apps/cli/terminal.hpp>

namespace chaos {

/// Returns the line that shows a run in progress.
std::string progress_text(const standing& now, const troupe::apps::terminal& t);

/// Formats a table of the faults by kind, with recovery times; then a table of the answers, and the complaints.
std::string table(const report& r, const troupe::apps::terminal& t);

/// Formats the whole report as JSON.
std::string json(const report& r);

}  // namespace chaos
