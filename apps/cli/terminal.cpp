// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <apps/cli/terminal.hpp>
#include <cmath>
#include <cstdlib>

namespace troupe::apps {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool speaks_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view v = variable(name);
    if (v.empty()) continue;
    return v.find("UTF-8") != v.npos || v.find("utf8") != v.npos || v.find("UTF8") != v.npos;
  }
  return false;
}

std::string three_digits(double v) {
  char text[32];
  const int whole = v < 1 ? 0 : static_cast<int>(std::floor(std::log10(v)));
  std::snprintf(text, sizeof text, "%.*f", std::max(0, 2 - whole), v);
  return text;
}

}  // namespace

terminal terminal::of(std::FILE* stream) noexcept {
  abilities can;
  const int fd = ::fileno(stream);
  const std::string_view kind = variable("TERM");
  can.live = ::isatty(fd) != 0 && kind != "dumb" && !kind.empty();
  can.colour = can.symbols = can.live && variable("NO_COLOR").empty();
  can.symbols = can.symbols && speaks_utf8();
  winsize size{};
  if (can.live && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) can.columns = size.ws_col;
  return terminal(can);
}

std::string terminal::styled(const char* code, std::string_view text) const {
  if (!can_.colour) return std::string(text);
  return std::string("\033[").append(code).append("m").append(text).append("\033[0m");
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return (unit == 0 ? std::to_string(static_cast<int>(bytes)) : three_digits(bytes)) + " " + units[unit];
}

void progress::show(double passed_s, const std::string& line) {
  if (!t_.can().live && passed_s < next_s_) return;
  next_s_ += 1;
  std::printf(t_.can().live ? "\r%s\033[K" : "%s\n", line.c_str());
  std::fflush(stdout);
}

void progress::clear() {
  if (t_.can().live) std::printf("\r\033[K");
}

std::string grouped(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

std::string time_text(const terminal& t, double seconds) {
  if (seconds >= 1) return three_digits(seconds) + " s";
  if (seconds >= 1e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " " + t.micro();
}

std::string padded(std::string text, std::size_t columns) {
  std::size_t wide = 0;
  for (const char c : text) wide += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return wide < columns ? std::string(columns - wide, ' ') + text : text;
}

std::string table_row(std::string name, std::size_t name_columns, const std::vector<std::string>& cells,
                      std::size_t cell_columns) {
  name.resize(std::max(name.size(), name_columns), ' ');
  std::string out = "  " + name;
  for (const std::string& cell : cells) out += padded(cell, cell_columns);
  return out + "\n";
}

std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent) {
  std::string out, line;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      out.append(line).append("\n").append(indent);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line.append(word);
    text.remove_prefix(std::min(text.size(), blank + 1));
  }
  return out + line;
}

}  // namespace troupe::apps
