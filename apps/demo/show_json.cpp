// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/cli/json.hpp>
#include <apps/demo/show.hpp>

namespace demo {

using troupe::apps::json_writer;

namespace {

void write(json_writer& out, const run_record& run, const kind_record& k) {
  out.begin_object().member("name", k.name).member("right", k.right.total());
  out.member("wrong", k.wrong).member("failed", k.failed).member("late", k.right.total() - k.in_time);
  out.member("per_second", run.per_s(k));
  const latency_counts& right = k.right;
  out.key("latency_seconds").begin_object();
  out.member("p50", right.seconds_at(0.5)).member("p90", right.seconds_at(0.9)).member("p99", right.seconds_at(0.99));
  out.member("p99.9", right.seconds_at(0.999)).member("max", right.longest_seconds());
  out.end_object().end_object();
}

}  // namespace

std::string json(const run_record& run, const std::vector<act>& acts, const std::string& plot, bool good) {
  json_writer out;
  out.begin_object().member("ok", good).member("seconds", run.seconds).member("last_answer_seconds", run.last_answer_s);
  out.member("service", run.service).member("machine", run.machine);
  out.key("clients").begin_array();
  for (const kind_record& k : run.by_kind) write(out, run, k);
  out.end_array().key("all");
  write(out, run, run.all());
  out.member("batches", run.batches).member("questions", run.questions);
  out.member("repeated_batches", run.repeated);
  out.member("most_memory_bytes", run.most_memory_bytes);
  out.key("moments").begin_array();
  for (const moment& m : run.moments) {
    out.begin_object().member("at_seconds", m.at_s).key("per_second").begin_array();
    for (const double v : m.answers_per_s) out.value(v);
    out.end_array().member("p50_seconds", m.p50_s).member("p99_seconds", m.p99_s).end_object();
  }
  out.end_array().key("events").begin_array();
  for (const event& e : run.events)
    out.begin_object()
        .member("what", e.what)
        .member("from_seconds", e.from_s)
        .member("to_seconds", e.to_s)
        .member("ours", e.ours)
        .end_object();
  out.end_array().key("acts").begin_array();
  for (const act& a : acts)
    out.begin_object().member("title", a.title).member("ok", a.good).member("seen", a.lines).end_object();
  out.end_array().key("plot");
  plot.empty() ? out.null() : out.value(plot);
  out.end_object();
  return out.text();
}

}  // namespace demo
