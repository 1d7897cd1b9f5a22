// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/chaos/run.hpp>
#include <chrono>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/jit.hpp>

namespace chaos {

using namespace troupe;

namespace {

constexpr auto time_limit = std::chrono::seconds(60);
constexpr auto moment = std::chrono::milliseconds(100);
// The heartbeat is shorter, so that a worker that is stopped or does not end is detected within a fraction of the
// pause.
constexpr auto pause = std::chrono::milliseconds(2000), heartbeat = std::chrono::milliseconds(300),
               longest_run = std::chrono::milliseconds(200);
// While a GPU's driver handles a fault in one process, driver calls of other processes block.
constexpr auto heartbeat_beside_a_driver = std::chrono::milliseconds(1000);

bool has(const std::vector<faults::kind>& kinds, faults::kind k) {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), k) != kinds.end();
}

device_options options_for(const settings& s) {
  device_options o = s.device;
  o.restarts = UINT32_MAX;
  o.when_full = when_full::wait;
  o.heartbeat_timeout = o.engine == "host" ? heartbeat : heartbeat_beside_a_driver;
  return o;
}

void sum_up(report& r, const std::vector<faults::injection>& record) {
  for (const faults::injection& i : record) {
    kind_report& k = r.by_kind[static_cast<std::size_t>(i.kind)];
    ++(i.hit ? k.injected : k.missed);
    if (!i.recovered()) continue;
    k.recoveries_s.push_back(static_cast<double>(i.recovery_ns()) / 1e9);
    if (i.seen_ns == 0 || i.serving_ns == 0) continue;
    k.notices_s.push_back(static_cast<double>(i.seen_ns - i.at_ns) / 1e9);
    k.changes_s.push_back(static_cast<double>(i.serving_ns - i.seen_ns) / 1e9);
  }
  for (kind_report& k : r.by_kind) k.sort();
}

// Waits until the device serves: the last fault may have lost a request that was sent after it.
result<void> serves(const device& gpu) {
  result<std::uint64_t> pong = gpu.ping().get();
  for (int i = 0; i < 100 && !pong && pong.error().reaction() == reaction::context_lost; ++i) pong = gpu.ping().get();
  return pong ? result<void>() : pong.error();
}

result<void> storm_over(const device& gpu, const settings& s, report& r,
                        const std::function<void(const standing&)>& watch) {
  answers checked_answers(time_limit);
  // Replies by value are stored in memory that `garbage` overwrites.
  workload clients(gpu,
                   {.clients = s.clients,
                    .seed = s.seed,
                    .numbers = !has(s.kinds, faults::kind::garbage),
                    .wild_writes = s.kinds.empty(),
                    .training = s.training,
                    .refitting = s.refitting},
                   checked_answers);
  r.device = gpu.name();
  r.libraries = clients.libraries();
  const std::int64_t began = now_ns();
  const auto passed_s = [began] { return static_cast<double>(now_ns() - began) / 1e9; };
  faults::storm storm(gpu, {.kinds = s.kinds,
                            .seed = s.seed,
                            .per_second = s.per_second,
                            .one_at_a_time = s.one_at_a_time,
                            .pause = pause,
                            .run_timeout = longest_run});
  while (passed_s() < s.seconds && storm.hits() < s.faults && gpu.state() != device_state::stopped) {
    std::this_thread::sleep_for(moment);
    const answer_counts now = checked_answers.counts();
    if (watch) watch({passed_s(), storm.hits(), now.right, now.wrong + now.unexpected + now.twice + now.lost});
  }
  storm.stop();
  clients.stop();
  r.seconds = passed_s();
  sum_up(r, storm.record());
  r.answered = checked_answers.counts();
  r.trained = clients.trained();
  r.is_training = s.training;
  r.refitted = clients.refitted();
  r.is_refitting = s.refitting;
  r.complaint = checked_answers.first_complaint();
  return serves(gpu);
}

// Compiles once more: the temporary folder of a killed worker's compiler stays until the next one is made.
void compile_once_more(const settings& s) {
  runtime rt;
  const device gpu = rt.open_device(options_for(s));
  (void)jit::compile(gpu,
                     {.source = "__global__ void nothing() {}\n", .name = "last.cu", .cache = jit::cache_use::none})
      .ready()
      .get();
}

}  // namespace

double kind_report::at(const std::vector<double>& sorted, double share) noexcept {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void kind_report::sort() {
  for (const auto list : lists) std::sort((this->*list).begin(), (this->*list).end());
}

kind_report report::all() const {
  kind_report sum;
  for (const kind_report& k : by_kind) {
    sum.injected += k.injected;
    sum.missed += k.missed;
    for (const auto list : kind_report::lists)
      (sum.*list).insert((sum.*list).end(), (k.*list).begin(), (k.*list).end());
  }
  sum.sort();
  return sum;
}

result<report> run(const settings& s, const private_folder& folder, const std::function<void(const standing&)>& watch) {
  // the first thread makes the thread sanitizer start a thread of its own, which must not count as a leak
  std::thread([] {}).join();
  const resources before = resources::now();
  report r{.seed = s.seed};
  {
    runtime rt;
    const device gpu = rt.open_device(options_for(s));
    TROUPE_TRY(gpu.ping().get());
    const result<void> still = storm_over(gpu, s, r, watch);
    r.restarts = gpu.statistics().generation - 1;
    if (!still) r.close = still.error().to_string();
    auto closed = gpu.close().get_for(time_limit);
    if (!closed)
      r.close = "the device did not close in time";
    else if (!*closed && r.close.empty())
      r.close = closed->error().to_string();
  }
  if (!folder.temporary_files().empty()) compile_once_more(s);
  r.leaks = resources::left_beyond(before);
  for (const std::string& file : folder.temporary_files()) r.leaks += (r.leaks.empty() ? "" : ", ") + file;
  return r;
}

}  // namespace chaos
