// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/common/terminal.hpp>
#include <bench/report.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

bool in_colour() { return apps::terminal::of(stdout).can().colour; }
const char* green() { return in_colour() ? "\033[32m" : ""; }
const char* red() { return in_colour() ? "\033[31m" : ""; }
const char* grey() { return in_colour() ? "\033[2m" : ""; }
const char* plain() { return in_colour() ? "\033[0m" : ""; }

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "an unnamed processor";
}

// Three digits that count.
std::string number(double v) {
  char text[32];
  const int decimals = v == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::abs(v)))));
  std::snprintf(text, sizeof text, "%.*f", std::min(decimals, 4), v);
  return text;
}

std::string cell(double v, std::string_view unit) { return number(v) + " " + std::string(unit); }

}  // namespace

void print_head() {
  std::printf("On %d cores of %s.\n\n", usable_cores(), processor().c_str());
  std::printf("%-19s %14s %14s %7s  %-18s %s\n", "measure", "ours", "raw", "ratio", "goal", "ok");
}

void print_row(const measure& m, const result<figures>& found) {
  const std::string name(m.name), goal = m.goal.text(m.unit);
  if (!found) {
    std::printf("%-19s %14s %14s %7s  %-18s %s-%s\n", name.c_str(), "-", "-", "-", goal.c_str(), red(), plain());
    std::printf("%s  not run: %s%s\n", grey(), found.error().text().c_str(), plain());
    std::fflush(stdout);
    return;
  }
  const bool ok = m.goal.met(*found);
  std::printf("%-19s %14s %14s %7s  %-18s %s%s%s\n", name.c_str(), cell(found->ours, m.unit).c_str(),
              cell(found->raw, m.unit).c_str(), found->raw == 0 ? "-" : number(found->ratio()).c_str(), goal.c_str(),
              ok ? green() : red(), ok ? "yes" : "NO", plain());
  if (!found->objection.empty()) std::printf("  %s%s%s\n", red(), found->objection.c_str(), plain());
  if (!found->note.empty()) std::printf("%s  %s%s\n", grey(), found->note.c_str(), plain());
  std::fflush(stdout);
}

void print_json(const measure& m, const result<figures>& found) {
  const std::string name(m.name), unit(m.unit), goal = m.goal.text(m.unit);
  const auto value = [&](double v, bool there) {
    char text[32] = "null";
    if (there) std::snprintf(text, sizeof text, "%.6g", v);
    return std::string(text);
  };
  const bool there = found.has_value();
  const figures f = there ? *found : figures{};
  std::printf(R"({"name":"%s","ours":%s,"raw":%s,"unit":"%s","ratio":%s,"goal":"%s","ok":%s})"
              "\n",
              name.c_str(), value(f.ours, there).c_str(), value(f.raw, there).c_str(), unit.c_str(),
              value(f.ratio(), there && f.raw != 0).c_str(), goal.c_str(), there && m.goal.met(f) ? "true" : "false");
  std::fflush(stdout);
}

}  // namespace troupe::bench
