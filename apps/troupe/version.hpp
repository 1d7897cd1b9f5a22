// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace troupe::apps {

/// Runs `troupe version`. `arguments` are those after the command. Returns the exit code.
int version_command(std::span<const char* const> arguments);

}  // namespace troupe::apps
