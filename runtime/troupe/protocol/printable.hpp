// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe::protocol {

/// Replaces control characters in a text from a process that is not trusted, because it may reach logs and terminals.
inline void make_printable(std::string& text) noexcept {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
}

}  // namespace troupe::protocol
