// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How long a service is interrupted if its worker is lost: from the fault to the first correct answer, while clients
// send requests continuously.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/recovery.hpp>
#include <bench/rounds.hpp>
#include <bench/system/placement.hpp>
#include <chrono>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/faults/faults.hpp>

namespace troupe::bench {
namespace {

using std::chrono::milliseconds;

void kill(const device& gpu) {
  if (faults::injector(gpu).kill_worker() != 1)
    throw bad_result(error(reaction::fatal, "bench", "there was no worker to kill"));
}

figures run_standby(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 1, s.rounds(200), kill), clients, 20);
}

figures run_cold(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .standbys = 0, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 0, s.rounds(60), kill), clients, 0);
}

figures run_hang(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .restarts = no_budget});
  const load clients(*gpu, 1);  // one client, so that the request that hangs has a core to itself
  std::uint64_t number = 0;
  return figures_of(recoveries(*gpu, 1, s.rounds(30),
                               [&](const device& d) {
                                 d.tell(faults::hang{.number = ++number}, {.run_timeout = milliseconds(100)});
                               }),
                    clients, 0);
}

figures run_steady(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .restarts = no_budget});
  load clients(*gpu, 4);
  await_right_answer(*gpu, 0);
  constexpr auto a_second = std::chrono::seconds(1);
  const auto answers_of_a_second = [&](bool with_a_kill) {
    await_standbys(*gpu, 1);
    const std::uint64_t before = clients.right();
    const std::int64_t start = now_ns();
    if (with_a_kill) kill(*gpu);
    std::this_thread::sleep_for(a_second);
    return static_cast<double>(clients.right() - before) / (static_cast<double>(now_ns() - start) / 1e6);
  };
  const pair_of_medians found =
      interleaved(s.rounds(9), [&] { return answers_of_a_second(true); }, [&] { return answers_of_a_second(false); });
  figures f{.ours = found.ours, .raw = found.raw, .note = "the new standby is started in the same second"};
  clients.stop();
  if (clients.objectionable()) f.objection = "a client got a wrong answer, or an error that no fault excuses";
  return f;
}

double round_trip_us(const device& gpu) {
  std::vector<double> all;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t start = now_ns();
    gpu.ping().get().value();
    all.push_back(static_cast<double>(now_ns() - start) / 1e3);
  }
  return median(std::move(all));
}

figures run_cost(const settings& s) {
  const device_under_test with(s, {.wait = wait_policy::latency}),
      without(s,
              {.wait = wait_policy::latency, .standbys = 0, .restarts = 0, .heartbeat_timeout = time_span::for_ever()});
  device_watch events = with->watch();
  await_standbys(*with, 1);
  const placement placed(placement::where::two_cores,
                         {with->statistics().worker_pid.value(), without->statistics().worker_pid.value()});
  const pair_of_medians found =
      interleaved(s.rounds(61), [&] { return round_trip_us(*with); }, [&] { return round_trip_us(*without); });
  figures f{.ours = found.ours, .raw = found.raw, .note = "with a standby, heartbeats and a watch"};
  if (events.missed() != 0 || with->statistics().generation != 1) f.objection = "its worker was replaced meanwhile";
  return f;
}

}  // namespace

const measure recover_standby{.name = "recover.standby",
                              .unit = "ms",
                              .ours = "from kill -9 of the worker under load to the first right answer",
                              .raw = "",
                              .goal = {goal::kind::ours_at_most, 5},
                              .run = run_standby};

const measure recover_cold{.name = "recover.cold",
                           .unit = "ms",
                           .ours = "the same without a standby",
                           .raw = "",
                           .goal = {goal::kind::ours_at_most, 150},
                           .run = run_cold};

const measure recover_hang{
    .name = "recover.hang",
    .unit = "ms",
    .ours = "from sending a request that never ends, run_timeout 100 ms, to the first right answer",
    .raw = "",
    .goal = {goal::kind::ours_at_most, 120},
    .run = run_hang};

const measure recover_steady{.name = "recover.steady",
                             .unit = "answers/ms",
                             .ours = "right answers to four clients while the worker is killed once a second",
                             .raw = "the same without kills",
                             .goal = {goal::kind::ratio_at_least, 0.9},
                             .run = run_steady};

const measure supervise_cost{.name = "supervise.cost",
                             .unit = "us",
                             .ours = "ping().get() with a standby, heartbeats and a watch",
                             .raw = "the same without any of them",
                             .goal = {goal::kind::ratio_at_most, 1.02},
                             .run = run_cost};

}  // namespace troupe::bench
