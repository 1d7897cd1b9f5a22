// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/command_line.hpp>
#include <cstdio>

namespace troupe::apps {

/// Flushes the output of a program, as its last action. If some of the output was lost (a full disk, a closed
/// descriptor), prints the reason to standard error and turns an exit code of 0 into 1. Returns the exit code.
int finish(std::FILE* out, int code);

/// Writes a command's help to standard output, or {"name","help"} on one line as JSON. Returns exit code 0.
int print_help(const grammar& g, bool as_json);

}  // namespace troupe::apps
