// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/terminal.hpp>
#include <cstdio>

namespace troupe::apps {
namespace {

constexpr std::size_t columns = 120;

std::string name_of(const option& o) {
  return std::string(o.name) + (o.value.empty() ? "" : " ") + std::string(o.value);
}

std::string text_of(const option& o) {
  std::string text(o.text);
  char range[80];
  std::snprintf(range, sizeof range, "%.12g to %.12g; %.12g by default", o.range.least, o.range.most,
                o.range.otherwise);
  if (const std::size_t at = text.find("{}"); at != text.npos) text.replace(at, 2, range);
  return text;
}

}  // namespace

std::string help_text(const grammar& g) {
  std::vector<option> all(g.options.begin(), g.options.end());
  all.push_back({.name = "--help", .text = "this text"});
  std::size_t widest = 0;
  for (const option& o : all) widest = std::max(widest, name_of(o).size());
  std::string out = std::string(g.command) + " " + std::string(g.usage) + "\n" + std::string(g.about) + "\n";
  for (const option& o : all) {
    std::string name = name_of(o);
    name.resize(widest + 2, ' ');
    const std::string indent(2 + name.size(), ' ');
    out += "  " + name + wrapped(text_of(o), columns - indent.size(), indent) + "\n";
  }
  return out + "\n" + std::string(g.more);
}

}  // namespace troupe::apps
