// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

/// Reads texts with a key and a value on each line, such as files in /proc and the descriptions that workers send.
namespace troupe {

/// The separator between a key and its value: blanks alone, or a colon with blanks around it.
enum class key_values : std::uint8_t { blank_between, colon_between };

/// Returns the value on the first line that has the key, or an empty string. Reads no line after that one.
std::string value_of(std::istream& lines, std::string_view key, key_values how);
std::string value_of(const std::string& text, std::string_view key, key_values how);

/// Returns the decimal number at the start of the text, after blanks; 0 if there is no number, or if it exceeds 64
/// bits.
std::uint64_t number_of(std::string_view text) noexcept;

}  // namespace troupe
