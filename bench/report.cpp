// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/cli/json.hpp>
#include <apps/cli/terminal.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/report.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

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

// Returns text such as ", and a GPU of this name". If the GPU is unknown here, each measure reports that.
std::string gpu(const settings& how) {
  if (how.engine == "host") return {};
  try {
    return ", and " + raw_side(how)->description();
  } catch (const bad_result&) {
    return cat(", and ", how.engine, ":", how.ordinal);
  }
}

// Formats a number with three significant digits.
std::string number(double v) {
  char text[32];
  const int decimals = v == 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(std::abs(v)))));
  std::snprintf(text, sizeof text, "%.*f", std::min(decimals, 4), v);
  return text;
}

std::string cell(double v, std::string_view unit) { return number(v) + " " + std::string(unit); }

}  // namespace

void print_head(const settings& how) {
  std::printf("On %d cores of %s%s.\n\n", usable_cores(), processor().c_str(), gpu(how).c_str());
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
  for (const std::string& wrong : {found->objection, found->missed})
    if (!wrong.empty()) std::printf("  %s%s%s\n", red(), wrong.c_str(), plain());
  if (!found->note.empty()) std::printf("%s  %s%s\n", grey(), found->note.c_str(), plain());
  std::fflush(stdout);
}

std::string json_line(const measure& m, const result<figures>& found) {
  using apps::json_writer;
  json_writer out(json_writer::layout::one_line);
  const auto number = [&](std::string_view name, double v, bool there) {
    out.key(name);
    there ? out.value(v) : out.null();
  };
  const bool there = found.has_value();
  const figures f = there ? *found : figures{};
  out.begin_object().member("name", m.name);
  number("ours", f.ours, there);
  number("raw", f.raw, there);
  out.member("unit", m.unit);
  number("ratio", f.ratio(), there && f.raw != 0);
  out.member("goal", m.goal.text(m.unit)).member("ok", there && m.goal.met(f));
  const std::string why = !there ? "not run: " + found.error().text() : f.objection.empty() ? f.missed : f.objection;
  out.key("why");
  why.empty() ? out.null() : out.value(why);
  return out.end_object().text();
}

std::string json_line(const measure& m) {
  apps::json_writer out(apps::json_writer::layout::one_line);
  out.begin_object().member("name", m.name).member("unit", m.unit).member("ours", m.ours).member("raw", m.raw);
  return out.member("goal", m.goal.text(m.unit)).end_object().text();
}

void summary::add(const measure& m, const result<figures>& found) noexcept {
  ++all_;
  not_run_ += !found;
  objected_ += found && !found->objection.empty();
  met_ += found && m.goal.met(*found);
}

std::string summary::text() const {
  std::string text = cat(met_, " of ", all_, all_ == 1 ? " goal met" : " goals met");
  if (not_run_ > 0) text += cat(", ", not_run_, " not run");
  if (objected_ > 0) text += cat(", ", objected_, " invalid");
  return text;
}

int summary::exit_code(bool check) const noexcept {
  return not_run_ + objected_ > 0 || (check && met_ != all_) ? 1 : 0;
}

}  // namespace troupe::bench
