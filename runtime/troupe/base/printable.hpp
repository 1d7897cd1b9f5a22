// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// Replaces control characters, and bytes that are not UTF-8, in a text from a process that is not trusted, because it
/// may reach logs and terminals. Keeps line ends, which messages of compilers have.
void make_printable(std::string& text) noexcept;

}  // namespace troupe
