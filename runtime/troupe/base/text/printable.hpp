// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// Replaces control characters, and bytes that are not UTF-8, in a text from an untrusted process: the text may be
/// printed in logs and on terminals. Keeps newlines, which compiler messages contain.
void make_printable(std::string& text) noexcept;

}  // namespace troupe
