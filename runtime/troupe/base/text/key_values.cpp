// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <istream>
#include <sstream>
#include <troupe/base/text/key_values.hpp>

namespace troupe {
namespace {

constexpr const char* blanks = " \t";

}  // namespace

std::string value_of(std::istream& lines, std::string_view key, key_values how) {
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t at = line.find_first_not_of(blanks, key.size());
    if (at == line.npos) continue;
    if (how == key_values::blank_between && at == key.size()) continue;  // the beginning of a longer key
    if (how == key_values::colon_between) {
      if (line[at] != ':') continue;
      at = line.find_first_not_of(blanks, at + 1);
    }
    return at == line.npos ? std::string() : line.substr(at);
  }
  return {};
}

std::string value_of(const std::string& text, std::string_view key, key_values how) {
  std::istringstream lines(text);
  return value_of(lines, key, how);
}

std::uint64_t number_of(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  std::uint64_t out = 0;
  return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc() ? out : 0;
}

}  // namespace troupe
