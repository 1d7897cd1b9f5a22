// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

namespace troupe::apps {

/// The last thing a program does: what it wrote is written out, and an exit code of 0 becomes 1 when some of it was
/// lost (a full disk, a closed descriptor), with the reason on standard error. Answers the exit code.
int finish(std::FILE* out, int code);

/// Writes a command's help to standard output, or {"name","help"} on one line, for programs. Answers exit code 0.
int print_help(std::string_view name, const char* help, bool as_json);

}  // namespace troupe::apps
