// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/cli/json.hpp>
#include <cmath>
#include <cstdio>

namespace troupe::apps {
namespace {

// Returns the length in bytes of the character at the beginning; 0 if the bytes are not UTF-8.
std::size_t character_bytes(std::string_view s) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  const std::size_t n = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : (first & 0xf0) == 0xe0        ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (n == 0 || n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Rejects overlong encodings, surrogates, and values beyond the last code point.
  const bool wrong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                     (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return wrong ? 0 : n;
}

std::string quoted(std::string_view s) {
  std::string out = "\"";
  while (!s.empty()) {
    const std::size_t n = character_bytes(s);
    const char c = s.front();
    if (n == 0)
      out += "\\ufffd";
    else if (c == '"' || c == '\\')
      out.append("\\").append(1, c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else
      out.append(s.substr(0, n));
    s.remove_prefix(n == 0 ? 1 : n);
  }
  return out + '"';
}

}  // namespace

json_writer& json_writer::key(std::string_view name) {
  separate();
  out_ += quoted(name) + (how_ == layout::one_line ? ":" : ": ");
  named_ = true;
  return *this;
}

json_writer& json_writer::value(std::string_view text) { return raw(quoted(text)); }

json_writer& json_writer::value(double v) {
  if (!std::isfinite(v)) return null();
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return raw(text);
}

json_writer& json_writer::value(const std::vector<std::string>& all) {
  begin_array();
  for (const std::string& one : all) value(one);
  return end_array();
}

json_writer& json_writer::open(char bracket) {
  separate();
  named_ = false;
  out_ += bracket;
  filled_.push_back(false);
  return *this;
}

json_writer& json_writer::shut(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) line();
  out_ += bracket;
  return *this;
}

json_writer& json_writer::raw(std::string_view token) {
  separate();
  named_ = false;
  out_ += token;
  return *this;
}

void json_writer::separate() {
  if (named_ || filled_.empty()) return;
  if (filled_.back()) out_ += ',';
  filled_.back() = true;
  line();
}

void json_writer::line() {
  if (how_ == layout::indented) out_.append("\n").append(2 * filled_.size(), ' ');
}

}  // namespace troupe::apps
