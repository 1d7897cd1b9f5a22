// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/command_line.hpp>
#include <cstdio>

namespace troupe::apps {

/// The last thing a program does: what it wrote is written out, and an exit code of 0 becomes 1 when some of it was
/// lost (a full disk, a closed descriptor), with the reason on standard error. Returns the exit code.
int finish(std::FILE* out, int code);

/// Writes a command's help to standard output, or {"name","help"} on one line, for programs. Returns exit code 0.
int print_help(const grammar& g, bool as_json);

}  // namespace troupe::apps
