// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

/// Texts with a key and its value in each line, as Linux shows much of itself and as workers describe things.
namespace troupe {

/// What stands between a key and its value: blanks alone, or a colon with blanks around it.
enum class key_values : std::uint8_t { blank_between, colon_between };

/// Returns the value in the first line that has the key; empty: no line has it. Reads no further than that line.
std::string value_of(std::istream& lines, std::string_view key, key_values how);
std::string value_of(const std::string& text, std::string_view key, key_values how);

/// Returns the decimal number that the text begins with, after blanks; 0: it begins with none, or one beyond 64 bits.
std::uint64_t number_of(std::string_view text) noexcept;

}  // namespace troupe
