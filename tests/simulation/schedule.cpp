// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule.hpp"

#include <algorithm>
#include <csignal>

namespace troupe::simulation {

bool schedule::step() {
  run_record& record = run_.record;
  if (record.steps >= run_.settings.steps) return false;
  ++record.steps;
  random_bits r = run_.random(stream::step, record.steps);
  if (record.steps < omitted_.size() && omitted_[record.steps]) return true;
  device_.loop().time += r.percent(3) && !run_.damage ? r.below(50'000'000) : r.below(20'000);
  if (run_.damage) damage_word();
  act(r);
  rules_.check();
  return true;
}

void schedule::act(random_bits& r) {
  std::uint32_t roll = r.below(100);
  const auto falls_to = [&roll](std::uint32_t share) {
    if (roll < share) return true;
    roll -= share;
    return false;
  };
  if (falls_to(run_.settings.faults_percent)) return inject_fault(r);
  if (falls_to(run_.settings.client_percent)) return clients_.act(r);
  if (falls_to(run_.settings.drive_percent)) return void(device_.core().completion.drive());
  if (!calls_.empty() && r.percent(20) && calls_.resume_any(r)) return;
  if (r.percent(35) && loop_acts(r)) return;
  if (workers_act(r) || loop_acts(r)) return;
  if (r.percent(30)) skip_to_next_timer();
}

bool schedule::loop_acts(random_bits& r) {
  simulated_loop& loop = device_.loop();
  const std::uint32_t first = r.below(3);
  for (std::uint32_t i = 0; i < 3; ++i) switch ((first + i) % 3) {
      case 0:
        if (!loop.has_jobs()) break;
        loop.run_job();
        return true;
      case 1:
        if (!loop.fire()) break;
        return true;
      default: {
        std::vector<std::pair<int, control_loop::handler*>> ready;
        for (const auto& w : loop.watched())
          for (const auto& worker : device_.workers())
            if (worker->readable(w.first)) ready.push_back(w);
        if (ready.empty()) break;
        const auto [fd, handler] = ready[r.below(ready.size())];
        handler->on_readable(fd);
        return true;
      }
    }
  return false;
}

bool schedule::workers_act(random_bits& r) {
  std::vector<simulated_worker*> able;
  for (const auto& w : device_.workers())
    if (w->can_step() || (w->dead && !w->exit_shows)) able.push_back(w.get());
  if (able.empty()) return false;
  simulated_worker& w = *able[r.below(able.size())];
  if (w.dead)
    w.exit_shows = true;
  else
    w.step(r);
  return true;
}

bool schedule::skip_to_next_timer() {
  simulated_loop& loop = device_.loop();
  const auto next = loop.next_time();
  if (!next) return false;
  loop.time = std::max(loop.time, *next);
  return loop.fire();
}

// A worker that is a thread cannot be killed, and a fault in it would end the program as well.
void schedule::inject_fault(random_bits& r) {
  std::vector<simulated_worker*> alive;
  for (const auto& w : device_.workers())
    if (!w->dead && w->launched) alive.push_back(w.get());
  if (alive.empty()) return;
  simulated_worker* const current = device_.current_worker();
  simulated_worker& w =
      current != nullptr && !current->dead && r.percent(70) ? *current : *alive[r.below(alive.size())];
  const bool process = w.isolation == isolation::process;
  const std::uint32_t roll = r.below(100);
  if (run_.settings.garbage && roll < 30) {
    if (&w == current && r.percent(10) && w.report_twice()) {
      device_.core().completion.drive();
      if (!w.dead && !device_.core().worker.violated())
        run_.violated("a worker is believed that reports a request twice");
      return;
    }
    w.write_garbage(r);
    if (!r.percent(30)) return;
    device_.core().completion.drive();  // the garbage is accepted, and the worker dies of something else
    return w.die({exit_status::ending::signalled, SIGKILL});
  }
  if (run_.settings.wild && roll < 40) return w.write_wildly(r);
  if (roll < 65) {
    if (!process) return;
    if (r.percent(60))
      w.die({exit_status::ending::signalled, r.percent(50) ? SIGKILL : SIGSEGV});
    else
      w.die_with_crash_note(SIGSEGV, r);
  } else if (roll < 85) {
    w.hung = !w.hung;
    run_.record.note(w.hung ? "worker hangs" : "worker continues", w.id);
  } else if (roll < 90) {
    w.deaf = !w.deaf;
  } else {
    for (simulated_worker* other : alive) other->hung = false;
  }
}

// A value from before the last step is known if the same worker served then.
void schedule::damage_word() {
  simulated_worker* const w = device_.current_worker();
  const damaged_word& d = *run_.damage;
  if (w == nullptr || w->dead || !w->serving) return;
  if (run_.record.steps + 1 == d.step) w->remember_words();
  if (run_.record.steps == d.step) w->damage(d);
}

void schedule::run_meanwhile(simulated_worker& w) {
  if (run_.calm) return;
  random_bits r = run_.random(stream::inside_request, run_.record.steps);
  if (w.steps_to_death != 0 && --w.steps_to_death == 0) return w.die_with_crash_note(SIGSEGV, r, w.dies_of);
  if (depth_ >= run_.settings.max_depth) return;
  ++depth_;
  while (!w.dead && (w.hung || w.frozen || r.percent(60)) && step()) {
  }
  --depth_;
}

void schedule::await_application(std::uint64_t ticket, simulated_worker& w) {
  if (step()) return;
  const client_request* const q = log_.find(ticket);
  const bool in_vain = q != nullptr && q->is_checked;
  const bool noticed_by_test = !run_.damage && (w.frozen || w.dishonest);
  if (in_vain || noticed_by_test || w.kill_wanted) return w.die({exit_status::ending::signalled, SIGKILL});
  if (++idle_waits_ > 4000) run_.violated("a transfer makes no progress");
  device_.core().completion.drive();
  rules_.check();
  random_bits r = run_.random(stream::inside_request, idle_waits_);
  if (w.dishonest) {  // only the device ends it
    device_.loop().time += 1'000'000;
    loop_acts(r);
    skip_to_next_timer();
    rules_.check();
  }
  calls_.resume_any(r);
}

}  // namespace troupe::simulation
