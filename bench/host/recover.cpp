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

double round_trip_us(const device& gpu) {
  std::vector<double> all;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t start = now_ns();
    gpu.ping().get().value();
    all.push_back(static_cast<double>(now_ns() - start) / 1e3);
  }
  return median(std::move(all));
}

}  // namespace

figures run_recover_standby(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 1, s.rounds(200), kill), clients, 20);
}

figures run_recover_cold(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .standbys = 0, .restarts = no_budget});
  const load clients(*gpu, 2);
  return figures_of(recoveries(*gpu, 0, s.rounds(60), kill), clients, 0);
}

figures run_recover_hang(const settings& s) {
  const device_under_test gpu(s, {.when_full = when_full::wait, .restarts = no_budget});
  const load clients(*gpu, 1);  // one client, so that the request that hangs has a core to itself
  std::uint64_t number = 0;
  return figures_of(recoveries(*gpu, 1, s.rounds(30),
                               [&](const device& d) {
                                 d.tell(faults::hang{.number = ++number}, {.run_timeout = milliseconds(100)});
                               }),
                    clients, 0);
}

figures run_recover_steady(const settings& s) {
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

figures run_supervise_cost(const settings& s) {
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

}  // namespace troupe::bench
