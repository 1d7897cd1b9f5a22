// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/picture/plot.hpp>
#include <apps/demo/picture/svg.hpp>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

namespace demo {
namespace {

// The colors of Okabe and Ito, which nearly everyone can distinguish, and paler versions for dark backgrounds.
constexpr const char* style = R"(
svg{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;background:#fff}
.ground{fill:#fff}
text{fill:#24292f;font-size:13px}
.title{font-size:20px;font-weight:600}
.heading{font-size:15px;font-weight:600}
.quiet,.tick{fill:#57606a}
.tick{font-size:12px}
.right{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:#d8dee4;stroke-width:1}
.axis{stroke:#8c959f;stroke-width:1}
path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
path.l0{stroke-width:5;stroke-opacity:.6}
.area{stroke:none;fill-opacity:.82}
.k0{fill:#0072b2}.k1{fill:#e69f00}.k2{fill:#009e73}
path.l0,.d0{stroke:#0072b2}path.l1,.d1{stroke:#d28c00}path.l2,.d2{stroke:#009e73}
.p50{stroke:#57606a}.p99{stroke:#cc3d6b}
.dot{fill:#fff;stroke-width:2}
.key{stroke-width:3;stroke-linecap:round}
.event{fill:#cc3d6b;fill-opacity:.16}
.eventline{stroke:#cc3d6b;stroke-width:1.5;stroke-dasharray:4 3}
.eventtext{fill:#a8285a;font-size:12px;font-weight:600}
@media (prefers-color-scheme:dark){
svg{background:#0d1117}.ground{fill:#0d1117}text{fill:#e6edf3}.quiet,.tick{fill:#9da7b3}.grid{stroke:#262c36}.axis{stroke:#6e7681}
.k0{fill:#4aa3df}.k1{fill:#f0b73f}.k2{fill:#35c08f}path.l0,.d0{stroke:#4aa3df}path.l1,.d1{stroke:#f0b73f}path.l2,.d2{stroke:#35c08f}
.p50{stroke:#9da7b3}.p99{stroke:#f778a1}.dot{fill:#0d1117}.event{fill:#f778a1}.eventline{stroke:#f778a1}.eventtext{fill:#f9a3c0}}
)";

constexpr double width = 960, left = 76, right = width - 28;

std::string format(const char* how, double v) {
  char text[48];
  std::snprintf(text, sizeof text, how, v);
  return text;
}

std::string count_text(double v) {
  if (v >= 1e6) return format("%.3g M", v / 1e6);
  if (v >= 1e3) return format("%.3g k", v / 1e3);
  return format("%.4g", v);
}

std::string time_text(double s) {
  if (s >= 1) return format("%.3g s", s);
  if (s >= 1e-3) return format("%.3g ms", s * 1e3);
  return format("%.3g µs", s * 1e6);
}

std::string digit(std::size_t i) { return std::to_string(i); }

// A panel with a heading above it. Its scales map values to coordinates.
struct panel {
  double top, bottom;
  scale x, y;
};

void grid(svg& out, const panel& p, const std::vector<double>& values, std::string (*text)(double)) {
  for (const double v : values) {
    const double y = p.y(v);
    out.line({left, y}, {right, y}, v == values.front() && !p.y.logarithmic ? "axis" : "grid");
    out.text(left - 10, y + 4, "tick right", text(v));
  }
}

void time_axis(svg& out, const panel& p, double seconds) {
  const std::vector<double> steps = round_steps(seconds, 10);
  for (const double s : steps) {
    const double x = p.x(s);
    out.line({x, p.bottom}, {x, p.bottom + 5}, "axis");
    out.text(x, p.bottom + 19, "tick middle", format(s == steps.back() ? "%g s" : "%g", s));
  }
  out.line({left, p.bottom}, {right, p.bottom}, "axis");
}

// Draws the keys of the legend from left to right, aligned to the right edge.
struct key {
  std::string name, classes;
  bool filled;
};
void legend(svg& out, double y, const std::vector<key>& keys) {
  double x = right;
  for (auto k = keys.rbegin(); k != keys.rend(); ++k) {
    x -= 7.0 * static_cast<double>(k->name.size()) + 2;
    out.text(x, y, "quiet", k->name);
    if (k->filled)
      out.rectangle({x - 19, y - 10}, 12, 12, k->classes, 2);
    else
      out.line({x - 23, y - 4}, {x - 8, y - 4}, "key " + k->classes);
    x -= 40;
  }
}

// Finds, among a few rows, the first one in which a text from `begin` to `end` overlaps no other; none if all are
// taken.
class text_rows {
 public:
  std::optional<double> place(double begin, double end) {
    for (std::size_t row = 0; row < ends_.size(); ++row) {
      if (begin < ends_[row]) continue;
      ends_[row] = end + 6;
      return 12 + 14 * static_cast<double>(row);
    }
    return {};
  }

 private:
  std::array<double, 3> ends_{};
};

void events(svg& out, const panel& p, const run_record& run, bool named) {
  text_rows rows;
  for (const event& e : run.events) {
    const double from = p.x(e.from_s), to = p.x(e.to_s);
    out.rectangle({from, p.top}, std::max(to - from, 2.0), p.bottom - p.top, "event");
    out.line({from, p.top}, {from, p.bottom}, "eventline");
    if (!named) continue;
    const std::string text = e.what + ", " + time_text(e.to_s - e.from_s);
    const double width = 7.2 * static_cast<double>(text.size()), after = std::max(to, from + 2) + 5;
    const bool at_edge = after + width > right;
    const double begin = at_edge ? from - 5 - width : after;
    if (const auto below = rows.place(begin, begin + width))
      out.text(at_edge ? from - 5 : after, p.top + *below, at_edge ? "eventtext right" : "eventtext", text);
  }
}

void throughput(svg& out, double top, double bottom, const run_record& run) {
  double most = 1;
  for (const moment& m : run.moments) {
    double all = 0;
    for (const double v : m.answers_per_s) all += v;
    most = std::max(most, all);
  }
  most *= run.events.empty() ? 1.08 : 1.3;  // leaves room for the labels of events
  const std::vector<double> steps = round_steps(most, 5);
  const double high = std::max(most, steps.back());
  const panel p{top, bottom, {0, run.seconds, left, right}, {0, high, bottom, top}};
  out.text(left, top - 14, "heading", "Answers per second");
  grid(out, p, steps, &count_text);
  // The areas of the kinds of clients are stacked, so the upper edge is their sum.
  std::vector<point> lower;
  std::vector<double> sums(run.moments.size(), 0);
  const auto edge = [&] {
    std::vector<point> points;
    // an interval begins at the end of the previous one
    if (!sums.empty()) points.push_back({left, p.y(sums.front())});
    for (std::size_t i = 0; i < run.moments.size(); ++i) points.push_back({p.x(run.moments[i].at_s), p.y(sums[i])});
    return points;
  };
  std::vector<key> keys;
  lower = edge();
  for (const std::size_t k : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {
    if (run.by_kind[k].right.total() == 0) continue;
    for (std::size_t i = 0; i < run.moments.size(); ++i) sums[i] += run.moments[i].answers_per_s[k];
    std::vector<point> upper = edge();
    out.area(upper, lower, "area k" + digit(k));
    lower = std::move(upper);
    keys.push_back({run.by_kind[k].name, "k" + digit(k), true});
  }
  std::reverse(keys.begin(), keys.end());
  legend(out, top - 14, keys);
  events(out, p, run, true);
  time_axis(out, p, run.seconds);
}

void latency_over_time(svg& out, double top, double bottom, const run_record& run) {
  double low = 1e9, high = 1e-9;
  for (const moment& m : run.moments) {
    if (m.p50_s <= 0) continue;
    low = std::min(low, m.p50_s);
    high = std::max(high, m.p99_s);
  }
  if (low > high) low = 1e-3, high = 1e-2;
  const panel p{top, bottom, {0, run.seconds, left, right}, {low / 1.5, high * 1.5, bottom, top, true}};
  out.text(left, top - 14, "heading", "Latency over time");
  grid(out, p, powers_of_ten(p.y.low, p.y.high), &time_text);
  std::vector<point> middle, late;
  for (const moment& m : run.moments) {
    if (m.p50_s <= 0) continue;
    for (const double x : {middle.empty() ? left : p.x(m.at_s), p.x(m.at_s)}) {
      middle.push_back({x, p.y(m.p50_s)});
      late.push_back({x, p.y(m.p99_s)});
    }
  }
  events(out, p, run, false);
  out.path(middle, "p50");
  out.path(late, "p99");
  legend(out, top - 14, {{"half of the answers within", "p50", false}, {"99 % within", "p99", false}});
  time_axis(out, p, run.seconds);
}

// Returns the position of a share on the axis: 0.3 for half of the answers, then one unit for each nine of 0.9, 0.99 ….
double rareness(double share) { return -std::log10(1 - share); }

void latency_by_share(svg& out, double top, double bottom, const run_record& run) {
  double low = 1e9, high = 1e-9;
  std::uint64_t most = 1;
  for (const kind_record& k : run.by_kind) {
    if (k.right.total() == 0) continue;
    low = std::min(low, k.right.seconds_at(0.01));
    high = std::max(high, k.right.longest_seconds());
    most = std::max(most, k.right.total());
  }
  if (low > high) low = 1e-3, high = 1e-2;
  const double rarest = std::clamp(std::log10(static_cast<double>(most)), 2.0, 6.0);
  const panel p{top, bottom, {0, rarest, left, right}, {low / 1.3, high * 1.4, bottom, top, true}};
  out.text(left, top - 14, "heading", "Latency by share of answers");
  grid(out, p, powers_of_ten(p.y.low, p.y.high), &time_text);
  out.line({left, bottom}, {right, bottom}, "axis");
  for (const double share : {0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999}) {
    if (rareness(share) > rarest) continue;
    const double x = p.x(rareness(share));
    if (share > 0) out.line({x, top}, {x, bottom}, "grid");
    out.line({x, bottom}, {x, bottom + 5}, "axis");
    out.text(x, bottom + 19, "tick middle", share == 0 ? "fastest" : format("%.6g %%", share * 100));
  }
  std::vector<key> keys;
  for (std::size_t k = 0; k < run.by_kind.size(); ++k) {
    const latency_counts& right_ones = run.by_kind[k].right;
    const std::uint64_t n = right_ones.total();
    if (n == 0) continue;
    // Draws the line as far as the number of answers has a meaning, and then to the slowest answer.
    const double last = std::min(rarest, std::log10(static_cast<double>(n)));
    std::vector<point> points;
    for (double r = 0; r <= last; r += 0.01)
      points.push_back({p.x(r), p.y(right_ones.seconds_at(std::max(1 - std::pow(10, -r), 1e-9)))});
    points.push_back({p.x(last), p.y(right_ones.longest_seconds())});
    out.path(points, "l" + digit(k));
    out.circle(points.back(), 3.5, "dot d" + digit(k));
    keys.push_back({run.by_kind[k].name, "d" + digit(k), false});
  }
  legend(out, top - 14, keys);
}

}  // namespace

std::string plot(const run_record& run) {
  const kind_record all = run.all();
  const std::string summary = count_text(run.per_s(all)) + " answers per second: half within " +
                              time_text(all.right.seconds_at(0.5)) + ", 99 % within " +
                              time_text(all.right.seconds_at(0.99));
  constexpr double height = 880;
  svg out(width, height, style, "Troupe: a service under load", run.service + "; " + run.machine + "; " + summary);
  out.rectangle({0, 0}, width, height, "ground");
  out.text(left, 42, "title", summary);
  out.text(left, 66, "quiet", run.service);
  out.text(left, 85, "quiet", run.machine);
  throughput(out, 138, 138 + 220, run);
  latency_over_time(out, 428, 428 + 130, run);
  latency_by_share(out, 636, 636 + 190, run);
  out.text(right, height - 13, "tick right",
           "share of the answers that came within this time; circles: the slowest one");
  return out.str();
}

}  // namespace demo
