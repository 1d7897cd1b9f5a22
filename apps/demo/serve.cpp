// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/cli/machine.hpp>
#include <apps/demo/breaker.hpp>
#include <apps/demo/serve.hpp>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>

namespace demo {

using namespace troupe;

namespace {

constexpr std::int64_t moment_ns = 100'000'000;
constexpr std::size_t different_questions = 509;  // a prime, so that a client with any stride asks all of them

// Turns the counts that clients update into intervals.
class observer {
 public:
  observer(const device& gpu, const clients& crowd, run_record& run) : gpu_(gpu), crowd_(crowd), run_(run) {}

  void look(const std::function<void(const standing&)>& watch, bool kept) {
    moment m{.at_s = seconds(now_ns() - crowd_.started_ns())};
    const double passed = m.at_s - last_s_;
    latency_counts now, since;
    std::uint64_t wrong = 0, failed = 0;
    for (const kind k : kinds) {
      const auto i = static_cast<std::size_t>(k);
      const latency_counts of_kind(crowd_.of(k).right);
      const std::uint64_t total = of_kind.total();
      m.answers_per_s[i] = static_cast<double>(total - totals_[i]) / passed;
      totals_[i] = total;
      wrong += crowd_.of(k).wrong.load();
      failed += crowd_.of(k).failed.load();
      now += of_kind;
    }
    since = now;
    since -= last_;
    m.p50_s = since.seconds_at(0.5);
    m.p99_s = since.seconds_at(0.99);
    last_ = now;
    last_s_ = m.at_s;
    if (kept) run_.moments.push_back(m);
    watch({m, run_.seconds, now.total(), wrong, failed, crowd_.under_way(), gpu_.statistics().memory.used_bytes,
           run_.moments});
  }

 private:
  const device& gpu_;
  const clients& crowd_;
  run_record& run_;
  latency_counts last_;
  double last_s_ = 0;
  std::array<std::uint64_t, kinds.size()> totals_{};
};

std::string machine_text(const device_statistics& of) {
  const apps::machine_report m = apps::look_at_machine();
  char cores[32];
  std::snprintf(cores, sizeof cores, "%.3g", m.usable_cores());
  const std::string processor = std::string(cores) + (m.usable_cores() == 1 ? " core of " : " cores of ") +
                                (m.processor.empty() ? "this machine" : m.processor);
  return of.engine == "host" ? "Host engine on " + processor + "; the clients share them with it"
                             : of.name + " (" + of.hardware.model + "); the clients are on " + processor;
}

std::string service_text(const run_record& run) {
  std::string widths;
  for (const std::int64_t width : shape::widths) widths += cat(widths.empty() ? "" : ", ", width);
  char batch[32];
  std::snprintf(batch, sizeof batch, "%.1f", run.questions_of_batch());
  return cat("A network of ", shape::widths.size() - 1, " layers (", widths, "); batches of ", batch,
             " questions on average; every answer checked");
}

}  // namespace

result<run_record> serve(const device& gpu, std::shared_ptr<network> net, const model& numbers, const load& l,
                         const std::function<void(const standing&)>& watch) {
  const std::vector<sample> samples = make_samples(numbers, different_questions, 8);
  batch_counts counts;
  stage actors({.threads = 1});
  const auto service = actors.spawn<batcher>({.mailbox = 65536, .name = "batcher"}, std::move(net), counts);
  // Asks some questions first, so that no client's latency includes one-time costs.
  for (int i = 0; i < 20; ++i) TROUPE_TRY(ask(service, samples[0].features).get());

  run_record run{.seconds = l.seconds, .machine = machine_text(gpu.statistics())};
  const std::uint64_t batches = counts.batches.load(), questions = counts.questions.load();
  clients crowd(service, samples, l);
  observer eye(gpu, crowd, run);
  breaker faults(gpu, l, crowd.started_ns());
  const std::int64_t end = crowd.started_ns() + static_cast<std::int64_t>(l.seconds * 1e9);
  for (std::int64_t next = crowd.started_ns() + moment_ns; next <= end; next += moment_ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(next - now_ns()));
    eye.look(watch, true);
  }
  // If the service was overloaded, the remaining questions are answered now, and the output shows how many.
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::nanoseconds(moment_ns)); };
  for (wait(); crowd.under_way() > 0; wait()) eye.look(watch, false);
  crowd.join();
  run.events = faults.join();
  actors.close();  // the callback of a client may still be running
  for (const kind k : kinds) {
    const tally& t = crowd.of(k);
    run.by_kind[static_cast<std::size_t>(k)] = {t.name, latency_counts(t.right), t.in_time.load(), t.wrong.load(),
                                                t.failed.load()};
  }
  run.last_answer_s = seconds(crowd.last_answer_ns() - crowd.started_ns());
  run.most_memory_bytes = gpu.statistics().memory.high_water_bytes;
  run.batches = counts.batches.load() - batches;
  run.questions = counts.questions.load() - questions;
  run.repeated = counts.repeated.load();
  run.first_failure = crowd.first_failure();
  run.service = service_text(run);
  return run;
}

}  // namespace demo
