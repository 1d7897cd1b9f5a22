// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/chaos/show.hpp>
#include <apps/cli/json.hpp>
#include <cstdio>

namespace chaos {

using troupe::apps::grouped;
using troupe::apps::json_writer;
using troupe::apps::padded;
using troupe::apps::terminal;
using troupe::apps::time_text;
using troupe::apps::wrapped;

namespace {

std::string row(std::string first, const std::vector<std::string>& cells) {
  return troupe::apps::table_row(std::move(first), 22, cells, 11);
}

std::string row_of(std::string_view name, const kind_report& k, const terminal& t) {
  const auto at = [&](const std::vector<double>& all, double share) {
    return all.empty() ? "-" : time_text(t, kind_report::at(all, share));
  };
  return row(std::string(name),
             {grouped(k.injected), grouped(k.recoveries_s.size()), at(k.recoveries_s, 0.5), at(k.recoveries_s, 0.99),
              at(k.recoveries_s, 1), at(k.notices_s, 0.5), at(k.changes_s, 0.5)});
}

void write(json_writer& out, const kind_report& k) {
  out.member("faults", k.injected).member("nothing_to_hit", k.missed).member("recoveries", k.recoveries_s.size());
  for (const auto& [name, share] : {std::pair("p50_seconds", 0.5), {"p99_seconds", 0.99}, {"max_seconds", 1.0}}) {
    out.key(name);
    k.recoveries_s.empty() ? out.null() : out.value(k.recovery_s(share));
  }
  for (const auto& [name, all] :
       {std::pair("p50_seconds_to_notice", &k.notices_s), {"p50_seconds_to_change", &k.changes_s}}) {
    out.key(name);
    all->empty() ? out.null() : out.value(kind_report::at(*all, 0.5));
  }
}

}  // namespace

std::string progress_text(const standing& now, const terminal& t) {
  char passed[32];
  std::snprintf(passed, sizeof passed, "%6.1f s", now.passed_s);
  std::string line = "  " + std::string(passed) + "  " + t.bold(padded(grouped(now.injected), 7)) + " faults  " +
                     padded(grouped(now.right), 10) + " right answers  ";
  const std::string bad = grouped(now.bad) + " bad";
  line += now.bad > 0 ? t.bad(bad) : bad;
  return line;
}

std::string table(const report& r, const terminal& t) {
  std::string out = row("", {"faults", "recovered", "p50", "p99", "max", "noticed", "changed"});
  for (const troupe::faults::kind k : troupe::faults::all_kinds())
    if (const kind_report& of = r.by_kind[static_cast<std::size_t>(k)]; of.injected + of.missed > 0)
      out += row_of(to_string(k), of, t);
  const kind_report all = r.all();
  out += row_of("all", all, t);
  const answer_counts& a = r.answered;
  out += "\n" + row("", {"asked", "right", "lost data", "wrong", "unexpected", "twice", "none"}) +
         row("answers", {grouped(a.asked), grouped(a.right), grouped(a.failed), grouped(a.wrong), grouped(a.unexpected),
                         grouped(a.twice), grouped(a.lost)});
  const auto say = [&](const std::string& text) {
    out += "  " + wrapped(text, static_cast<std::size_t>(t.can().columns) - 4, "    ") + "\n";
  };
  out += "\n";
  say("Operations of " + r.libraries + " on " + r.device + "; " + grouped(r.restarts) +
      " workers lost while they served, in " + time_text(t, r.seconds) +
      ". Recovery: from the fault to the first answer of the next worker; the other times are medians until the "
      "fault was noticed, and from then on until the next worker served. Lost data: answered context_lost, as "
      "expected.");
  if (const training_counts& c = r.trained; r.is_training)
    say(grouped(c.trainings) + " trainings of a network, of " + grouped(c.steps) + " steps, while " +
        grouped(c.workers_lost) + " workers were lost; " + grouped(c.sent_again) +
        " more steps were sent again. Each must have the losses and weights of one without faults, bit by bit.");
  if (const refit_counts& c = r.refitted; r.is_refitting)
    say(grouped(c.refits) + " times all weights of a product were replaced, while " + grouped(c.products) +
        " products had weights of one time each, and " + grouped(c.plans) + " plans were measured.");
  if (all.missed > 0) say(grouped(all.missed) + " more faults had nothing to hit: no standby, or no worker yet.");
  if (!r.complaint.empty()) say("first complaint: " + r.complaint);
  if (!r.leaks.empty()) say("left over at the end: " + r.leaks);
  if (!r.close.empty()) say("closing: " + r.close);
  return out;
}

std::string json(const report& r) {
  json_writer out;
  out.begin_object().member("ok", r.good()).member("seed", r.seed).member("seconds", r.seconds);
  out.member("device", r.device).member("libraries", r.libraries).member("restarts", r.restarts);
  const answer_counts& a = r.answered;
  out.key("answers").begin_object().member("asked", a.asked).member("right", a.right).member("data_lost", a.failed);
  out.member("wrong", a.wrong).member("unexpected", a.unexpected).member("twice", a.twice).member("none", a.lost);
  out.end_object();
  if (const training_counts& c = r.trained; r.is_training) {
    out.key("training").begin_object().member("trainings", c.trainings).member("steps", c.steps);
    out.member("sent_again", c.sent_again).member("workers_lost", c.workers_lost).end_object();
  }
  if (const refit_counts& c = r.refitted; r.is_refitting) {
    out.key("refitting").begin_object().member("refits", c.refits).member("products", c.products);
    out.member("plans", c.plans).end_object();
  }
  out.key("all").begin_object();
  write(out, r.all());
  out.end_object().key("kinds").begin_array();
  for (const troupe::faults::kind k : troupe::faults::all_kinds()) {
    const kind_report& of = r.by_kind[static_cast<std::size_t>(k)];
    if (of.injected + of.missed == 0) continue;
    out.begin_object().member("kind", to_string(k));
    write(out, of);
    out.end_object();
  }
  out.end_array().member("first_complaint", r.complaint).member("left_over", r.leaks).member("close", r.close);
  out.end_object();
  return out.text();
}

}  // namespace chaos
