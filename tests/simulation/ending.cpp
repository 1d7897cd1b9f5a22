// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "ending.hpp"

#include <algorithm>
#include <csignal>

namespace troupe::simulation {

void ending::run() {
  end_faults();
  settle("requests are left without an answer", [this] { return log_.all_judged(); });
  for (const auto& w : device_.workers())  // the damage may still be undetected
    if (w->dishonest) w->die({exit_status::ending::signalled, SIGKILL});
  if (!device_.closing()) prove_service();
  close();
}

void ending::end_faults() {
  run_.calm = true;
  run_.record.note("calm");
  for (const auto& w : device_.workers()) {
    w->hung = w->deaf = w->mute = w->unkillable = w->cannot_start = false;
    // The device is about to end a worker that has missed a message about memory.
    const bool noticed_by_test = !run_.damage && (w->frozen || w->dishonest);
    if (w->launched && (noticed_by_test || w->kill_wanted || w->missed_memory))
      w->die({exit_status::ending::signalled, SIGKILL});
  }
}

template <class Done>
void ending::settle(const char* failure, const Done& done) {
  constexpr std::uint32_t max_steps = 4000, steps_between_leaps = 40;
  for (std::uint32_t i = 0; !done(); ++i) {
    if (i == max_steps) run_.violated(std::string("no progress: ") + failure);
    ++run_.record.steps;
    random_bits r = run_.random(stream::end, run_.record.steps);
    device_.loop().time += 1000;
    calls_.resume_any(r);
    switch (i % 4) {
      case 0:
        device_.core().completion.drive();
        break;
      case 1:
        schedule_.loop_acts(r);
        break;
      default:
        schedule_.workers_act(r);
    }
    rules_.check();
    if (i % steps_between_leaps != steps_between_leaps - 1) continue;
    schedule_.skip_to_next_timer();
    device_.loop().time += 20'000'000;  // some timers are set again every millisecond
    rules_.check();
  }
}

// Requests whose answers have not been collected still hold memory.
void ending::settle_idle(const char* failure) {
  settle(failure, [this] { return device_.core().requests.in_flight() == 0 && calls_.empty(); });
}

bool ending::is_steady() const {
  const auto& all = device_.workers();
  const bool known = std::none_of(all.begin(), all.end(), [](const auto& w) { return w->dead && w->held; });
  return device_.gave_up() || (known && device_.state() == device_state::ready);
}

void ending::prove_service() {
  settle("it neither serves nor stops", [this] { return is_steady(); });
  if (!reset_if_stopped()) return;
  lift_quarantine();
  prove_transfers();
}

// Returns false if the device may stay stopped.
bool ending::reset_if_stopped() {
  if (!device_.gave_up()) return true;
  if (device_.had_unkillable_worker() || run_.setup.percent(50)) return false;
  run_.record.note("reset");
  auto up = device_.handle().reset();
  settle("a reset is not answered", [&up] { return up.ready(); });
  if (auto ok = up.take(); !ok) {
    if (device_.had_unkillable_worker()) return false;
    run_.violated("a device that was reset does not serve: " + ok.error().text());
  }
  return true;
}

void ending::lift_quarantine() {
  if (device_.core().quarantine.quarantined() == 0) return;
  auto up = device_.handle().reset();
  settle("the quarantine is not lifted", [&up] { return up.ready(); });
  if (device_.core().quarantine.quarantined() != 0) run_.violated("requests are in quarantine after a reset");
}

// Sends one request after another: the mailbox may be small.
void ending::prove_transfers() {
  buffers_.clear();
  settle_idle("tells are unfinished");
  device& gpu = device_.handle();
  const auto x = gpu.alloc<word>(4), y = gpu.alloc<word>(4);
  const std::vector<word> values{1, 2, 3, 5};
  run_.record.note("proof");
  calls_.start(nullptr, [&] { (void)gpu.upload(x, values); });
  settle_idle("the upload is unfinished");
  (void)gpu.copy(y, x);
  settle_idle("the copy is unfinished");
  auto answer = gpu.download(y);
  settle("the download is not answered", [&answer] { return answer.ready(); });
  const auto got = answer.take();
  if (!got && device_.gave_up()) return;
  if (!got) run_.violated("a device without faults fails: " + got.error().text());
  if (*got != values) run_.violated("a device without faults returns wrong data");
}

void ending::close() {
  run_.record.note("close");
  {
    const auto stopped = device_.close(run_.setup.percent(30));
    settle("the device does not stop", [&stopped] { return stopped.ready(); });
    simulated_loop& loop = device_.loop();
    while (loop.has_jobs()) loop.run_job();
    rules_.check();
    if (!log_.all_judged()) run_.violated("the device has stopped without answering a request");
    for (int i = 0; calls_.resume_any(run_.setup); ++i)
      if (i == 1000) run_.violated("uploads do not end");
    if (!calls_.empty()) run_.violated("an upload never returns");
    buffers_.clear();
    log_.clear();
    check_statistics();
  }
  check_nothing_is_held();
}

void ending::check_statistics() {
  const device_statistics s = device_.handle().statistics();
  if (s.depth != 0) run_.violated("slots are still taken: " + std::to_string(s.depth));
  if (s.memory.live_buffers != 0 || s.memory.used_bytes != 0)
    run_.violated("device memory has leaked: " + std::to_string(s.memory.live_buffers) + " blocks");
  if (s.memory.sealed_bytes != 0) run_.violated("memory without handles is sealed");
  if (s.host_memory.live_buffers != 0 || s.host_memory.used_bytes != 0)
    run_.violated("host memory has leaked: " + std::to_string(s.host_memory.live_buffers) + " blocks");
  const std::uint64_t accepted = device_.core().channel.newest_ticket();
  if (s.completed != accepted)
    run_.violated(std::to_string(accepted) + " requests were accepted, and " + std::to_string(s.completed) +
                  " answers given");
}

void ending::check_nothing_is_held() {
  const std::weak_ptr<device_core> left = device_.drop_handle();
  simulated_loop& loop = device_.loop();
  while (loop.has_jobs()) loop.run_job();
  if (!left.expired()) run_.violated("something still holds the device");
  if (simulated_link::alive != 0) run_.violated("links to workers are left");
  if (!loop.watched().empty()) run_.violated("the loop still watches something");
  device_.drop_workers();
}

}  // namespace troupe::simulation
