// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/show.hpp>
#include <cmath>
#include <troupe/base/text/cat.hpp>

namespace demo {

using troupe::apps::bytes_text;
using troupe::apps::grouped;
using troupe::apps::padded;
using troupe::apps::terminal;
using troupe::apps::time_text;
using troupe::apps::wrapped;

namespace {

double all_per_s(const moment& m) {
  double sum = 0;
  for (const double v : m.answers_per_s) sum += v;
  return sum;
}

// Draws the rates of the last intervals as small bars.
std::string bars(const std::vector<moment>& moments, std::size_t count) {
  static constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = moments.size() > count ? moments.size() - count : 0;
  double most = 1;
  for (std::size_t i = first; i < moments.size(); ++i) most = std::max(most, all_per_s(moments[i]));
  std::string out;
  for (std::size_t i = first; i < moments.size(); ++i)
    out += heights[std::clamp(static_cast<int>(all_per_s(moments[i]) / most * 7.99), 0, 7)];
  return out + std::string(count - (moments.size() - first), ' ');
}

// Returns which faults were injected, and how long the effect of each lasted.
std::string faults_text(const run_record& run, const terminal& t) {
  std::string out = troupe::cat("\n  ", run.events.size(), run.events.size() == 1 ? " fault" : " faults",
                                " meanwhile, with the time until the device answered again:\n");
  constexpr std::size_t most_lines = 12;
  std::vector<double> unseen;
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const event& e = run.events[i];
    if (i >= most_lines) {
      unseen.push_back(e.to_s - e.from_s);
      continue;
    }
    char line[96];
    std::snprintf(line, sizeof line, "    at %5.2f s   %-26s", e.from_s, e.what.c_str());
    out += line + padded(time_text(t, e.to_s - e.from_s), 9) + "\n";
  }
  std::sort(unseen.begin(), unseen.end());
  if (!unseen.empty())
    out += troupe::cat("    and ", unseen.size(), " more: half within ", time_text(t, unseen[unseen.size() / 2]),
                       ", the longest ", time_text(t, unseen.back()), "\n");
  return out + "  " + grouped(run.repeated) + (run.repeated == 1 ? " batch was" : " batches were") +
         " lost to them and sent again.\n";
}

}  // namespace

std::string progress_text(const standing& s, const terminal& t) {
  char passed[32];
  if (s.now.at_s < s.seconds + 0.05)
    std::snprintf(passed, sizeof passed, "%5.1f of %g s", s.now.at_s, s.seconds);
  else
    std::snprintf(passed, sizeof passed, "%5.1f s, all asked", s.now.at_s);
  const auto rate = static_cast<std::uint64_t>(std::lround(all_per_s(s.now)));
  std::string line = "  " + std::string(passed) + "  ";
  if (t.can().symbols && t.can().columns >= 110) line += t.good(bars(s.before, 20)) + "  ";
  line += t.bold(padded(grouped(rate), 7)) + " / s   ";
  if (rate == 0)
    line += "no answer just now      ";
  else
    line += "p50 " + padded(time_text(t, s.now.p50_s), 7) + "  p99 " + padded(time_text(t, s.now.p99_s), 7);
  if (t.can().columns >= 88)
    line += "   " + padded(std::to_string(s.under_way), 4) + " in flight, " +
            bytes_text(static_cast<double>(s.memory_bytes));
  if (s.wrong + s.failed > 0) line += t.bad("   " + grouped(s.wrong) + " wrong, " + grouped(s.failed) + " failed");
  return line;
}

std::string table(const run_record& run, const terminal& t) {
  std::string out;
  const auto row = [&](const std::string& name, const std::vector<std::string>& cells) {
    out += troupe::apps::table_row(name, 24, cells, 10);
  };
  row("", {"answers", "wrong", "failed", "per s", "p50", "p90", "p99", "p99.9", "max"});
  const auto figures = [&](const kind_record& k) {
    const auto at = [&](double share) { return time_text(t, k.right.seconds_at(share)); };
    const auto per_s = static_cast<std::uint64_t>(std::lround(run.per_s(k)));
    row(k.name, {grouped(k.right.total()), grouped(k.wrong), grouped(k.failed), grouped(per_s), at(0.5), at(0.9),
                 at(0.99), at(0.999), time_text(t, k.right.longest_seconds())});
  };
  for (const kind_record& k : run.by_kind)
    if (k.right.total() + k.wrong + k.failed > 0) figures(k);
  const kind_record all = run.all();
  figures(all);
  char text[160];
  std::snprintf(text, sizeof text, "  %s batches of %.1f questions; %.1f GFLOP/s; at most %s of device memory\n",
                grouped(run.batches).c_str(), run.questions_of_batch(), run.per_s(all) * shape::flops_of_one / 1e9,
                bytes_text(static_cast<double>(run.most_memory_bytes)).c_str());
  out.append("\n").append(text);
  if (!run.events.empty()) out += faults_text(run, t);
  // Questions that are outstanding when clients stop are answered soon, unless the service was overloaded.
  if (run.last_answer_s > run.seconds + 0.1)
    out += "  " +
           wrapped(grouped(all.right.total() - all.in_time) + " of the answers came late, the last " +
                       time_text(t, run.last_answer_s - run.seconds) +
                       " after the end: the service was overloaded. \"per s\" does not count them.",
                   static_cast<std::size_t>(t.can().columns) - 4, "    ") +
           "\n";
  return out;
}

}  // namespace demo
