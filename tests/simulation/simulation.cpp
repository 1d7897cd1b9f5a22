// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The schedule of a run: who does something next.
#include "simulation.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace troupe::simulation {
namespace {

constexpr std::uint64_t setup_stream = 1ull << 40, worker_stream = 2ull << 40, end_stream = 3ull << 40,
                        inside_stream = 4ull << 40;

device_options options_for(random_bits& r) {
  device_options o;
  o.engine = "simulated";
  o.name = "simulated";
  o.isolation = r.percent(94) ? isolation::process : isolation::thread;
  o.when_full = when_full::refuse;  // whose thread would wait?
  o.mailbox_capacity = 1u << r.between(1, 4);
  o.memory_limit = 256 * r.between(4, 16) + (r.percent(50) ? 4096 * r.between(1, 3) : 0);
  o.host_memory_limit = 256 * r.between(4, 24);
  o.lanes = r.percent(60) ? lane_policy::pooled : r.percent(50) ? lane_policy::single : lane_policy::per_actor;
  o.lane_pool = r.between(1, 4);
  o.helpers = r.between(1, 2);
  o.inline_bytes = r.percent(50) ? 0 : 1 << 20;
  o.coalesce = r.percent(50);
  o.standbys = r.percent(50) ? 0 : r.between(1, 2);
  o.restarts = r.between(0, 5);
  o.restart_window = time_span::of_seconds(r.percent(50) ? 1 : 60);
  o.quarantine_after = r.between(0, 3);
  o.salvage = r.percent(50) ? salvage::strict : salvage::untouched;
  o.start_timeout = time_span::of_seconds(1);
  o.close_timeout = time_span::of_seconds(1);
  o.heartbeat_timeout = r.percent(70) ? time_span::of_seconds(1) : time_span::for_ever();
  o.runtime_folder = "/nowhere";
  o.wait = wait_policy::efficient;
  return o;
}

}  // namespace

simulation::simulation(std::uint64_t seed, run_record& record, const omitted_steps& omitted)
    : scene(record), seed_(seed), omitted_(omitted), setup_(seed, setup_stream) {
  record.begin(seed);
  random_bits& r = setup_;
  options_ = options_for(r);
  steps_wanted_ = r.between(30, 250);
  faults_percent_ = r.percent(20) ? 0 : r.between(1, 6);
  client_percent_ = r.between(10, 50);
  drive_percent_ = r.between(2, 30);
  deepest_ = r.between(0, 4);
  garbage_ = options_.isolation == isolation::process && r.percent(30);
  hostile_starts_ = r.percent(25);
  wild_ = options_.isolation == isolation::process && r.percent(15);
  if (wild_) options_.memory_limit += 3 * 4096;
  deadly_ = options_.isolation == isolation::process && r.percent(20);
  const bool in_parts = r.percent(50);
  const staging_sizes staging = in_parts ? staging_sizes{12, 8, r.between(1, 3)} : staging_sizes();
  transfers_ = in_parts && r.percent(25);
  if (deadly_ && r.percent(50)) options_.salvage = salvage::untouched;
  garbage_ |= transfers_ && options_.isolation == isolation::process && r.percent(30);
  deadly_ |= transfers_ && options_.isolation == isolation::process;
  repetitive_ = options_.isolation == isolation::process && r.percent(8);
  if (repetitive_) {
    garbage_ = wild_ = deadly_ = hostile_starts_ = false;
    faults_percent_ = 0;
    steps_wanted_ += 200;
    options_.quarantine_after = r.between(1, 2);
    options_.restarts = r.between(3, 8);
    options_.mailbox_capacity = 8;
  }
  device_environment around{
      loop_,
      [this](std::uint32_t id, enum isolation how, std::shared_ptr<const region>, std::uint64_t channel_bytes)
          -> result<std::unique_ptr<worker_link>> { return make_worker(id, how, channel_bytes); },
      false, [this](pending_core& of, const std::function<bool()>& ready) { client_waits(of, ready); }, staging};
  core_ = device_core::open(options_, 0, around);
  gpu_.emplace(core_);
}

simulation::~simulation() = default;

result<std::unique_ptr<worker_link>> simulation::make_worker(std::uint32_t id, enum isolation how,
                                                             std::uint64_t channel_bytes) {
  random_bits r(seed_, worker_stream + id);
  loop_->refuses_watches = false;
  const bool hostile = hostile_starts_ && !calm_;
  if (hostile && r.percent(5)) return error(reaction::retry_later, "simulation", "no worker can be made");
  auto file = memory_file::create("troupe-channel", channel_bytes);
  if (!file) violated("no memory for a channel: " + file.error().text());
  auto w = std::make_shared<simulated_worker>(*this, id, how, std::move(*file));
  if (hostile) {
    w->cannot_start = r.percent(8);
    w->never_ready = r.percent(4);
    w->was_unkillable = w->unkillable = how == isolation::process && r.percent(3);
    w->mute = r.percent(3);
    w->deaf = r.percent(3);
    loop_->refuses_watches = r.percent(3);
    w->cannot_launch = r.percent(3);
  }
  workers_.push_back(w);
  return std::unique_ptr<worker_link>(new simulated_link(std::move(w)));
}

void simulation::violated(const std::string& what) const {
  record.violated = true;
  std::snprintf(record.violation, sizeof record.violation, "%s", what.c_str());
  ::_exit(2);
}

void simulation::run() {
  while (step()) {
  }
  heal();
  settle_down("requests are left without an answer", &simulation::all_answered);
  if (!closing_) prove_service();
  finish();
}

bool simulation::step() {
  if (record.steps >= steps_wanted_) return false;
  ++record.steps;
  random_bits r(seed_, record.steps);
  if (record.steps < omitted_.size() && omitted_[record.steps]) return true;
  loop_->time += r.percent(3) ? r.below(50'000'000) : r.below(20'000);
  act(r);
  check();
  return true;
}

void simulation::act(random_bits& r) {
  std::uint32_t roll = r.below(100);
  const auto falls_to = [&roll](std::uint32_t share) {
    if (roll < share) return true;
    roll -= share;
    return false;
  };
  if (falls_to(faults_percent_)) return fault(r);
  if (falls_to(client_percent_)) return client_acts(r);
  if (falls_to(drive_percent_)) return void(core_->answers.drive());
  if (!uploaders_.empty() && r.percent(20) && uploaders_act(r)) return;
  if (r.percent(35) && loop_acts(r)) return;
  if (workers_act(r) || loop_acts(r)) return;
  if (r.percent(30)) leap();
}

bool simulation::loop_acts(random_bits& r) {
  const std::uint32_t first = r.below(3);
  for (std::uint32_t i = 0; i < 3; ++i) switch ((first + i) % 3) {
      case 0:
        if (!loop_->has_jobs()) break;
        loop_->run_job();
        return true;
      case 1:
        if (!loop_->fire()) break;
        return true;
      default: {
        std::vector<std::pair<int, control_loop::handler*>> ready;
        for (const auto& w : loop_->watched())
          for (const auto& worker : workers_)
            if (worker->readable(w.first)) ready.push_back(w);
        if (ready.empty()) break;
        const auto [fd, handler] = ready[r.below(ready.size())];
        handler->on_readable(fd);
        return true;
      }
    }
  return false;
}

bool simulation::workers_act(random_bits& r) {
  std::vector<simulated_worker*> able;
  for (const auto& w : workers_)
    if (w->can_step() || (w->dead && !w->exit_shows)) able.push_back(w.get());
  if (able.empty()) return false;
  simulated_worker& w = *able[r.below(able.size())];
  if (w.dead)
    w.exit_shows = true;
  else
    w.step(r);
  return true;
}

bool simulation::leap() {
  const auto next = loop_->next_time();
  if (!next) return false;
  loop_->time = std::max(loop_->time, *next);
  return loop_->fire();
}

// Faults of what cannot be killed would end the program as well.
void simulation::fault(random_bits& r) {
  std::vector<simulated_worker*> alive;
  for (const auto& w : workers_)
    if (!w->dead && w->launched) alive.push_back(w.get());
  if (alive.empty()) return;
  simulated_worker& w = shown_ != nullptr && !shown_->dead && r.percent(70) ? *shown_ : *alive[r.below(alive.size())];
  const bool process = w.isolation == isolation::process;
  const std::uint32_t roll = r.below(100);
  if (garbage_ && roll < 30) {
    w.write_garbage(r);
    if (!r.percent(30)) return;
    core_->answers.drive();  // it is believed, and dies of something else
    return w.die({exit_status::ending::signalled, SIGKILL});
  }
  if (wild_ && roll < 40) return w.write_wildly(r);
  if (roll < 65) {
    if (!process) return;
    if (r.percent(60))
      w.die({exit_status::ending::signalled, r.percent(50) ? SIGKILL : SIGSEGV});
    else
      w.die_with_a_note(SIGSEGV, r);
  } else if (roll < 85) {
    w.hung = !w.hung;
    record.note(w.hung ? "worker hangs" : "worker goes on", w.id);
  } else if (roll < 90) {
    w.deaf = !w.deaf;
  } else {
    for (simulated_worker* other : alive) other->hung = false;
  }
}

void simulation::meanwhile(simulated_worker& w) {
  if (calm_) return;
  random_bits r(seed_, inside_stream + record.steps);
  if (w.steps_to_death != 0 && --w.steps_to_death == 0) return w.die_with_a_note(SIGSEGV, r, w.dies_of);
  if (depth_ >= deepest_) return;
  ++depth_;
  while (!w.dead && (w.hung || w.frozen || r.percent(60)) && step()) {
  }
  --depth_;
}

void simulation::await_application(std::uint64_t ticket, simulated_worker& w) {
  if (step()) return;
  // Nothing else happens any more.
  const auto found = by_ticket_.find(ticket);
  const bool in_vain = found != by_ticket_.end() && found->second->judged;
  if (in_vain || w.frozen || w.dishonest || w.kill_wanted) return w.die({exit_status::ending::signalled, SIGKILL});
  if (++waits_ > 4000) violated("a transfer does not go on");
  core_->answers.drive();
  check();
  random_bits r(seed_, inside_stream + waits_);
  uploaders_act(r);
}

void simulation::shows_channel(simulated_worker& w) {
  if (w.kill_wanted) violated("worker " + std::to_string(w.id) + " was ended by the device, and is to serve");
  shown_ = &w;
  record.note("worker is to serve", w.id);
}

void simulation::killed(simulated_worker& w) {
  if (!w.dead) record.note("worker is killed", w.id);
  // One ping that found no room is no reason: the next one would have.
  const bool was_asked =
      w.pinged || w.mute || (w.ping_dropped != 0 && options_.heartbeat_timeout.after(w.ping_dropped) > loop_->time);
  const bool silent =
      was_asked && w.asked_for_a_sign != 0 && options_.heartbeat_timeout.after(w.asked_for_a_sign) <= loop_->time;
  // One that shares a call with others is done when the last of them is.
  const bool ran_too_long = std::any_of(requests_.begin(), requests_.end(), [&w](const request& q) {
    return q.limited && q.started == &w && (q.finished != &w || q.joined);
  });
  const bool begins_nothing = std::any_of(requests_.begin(), requests_.end(), [&](const request& q) {
    return q.limited && q.started != &w && !q.judged && options_.start_timeout.after(q.sent_ns) <= loop_->time;
  });
  if (!w.dead && w.serving && &w == shown_ && !w.dishonest && !w.asked_to_stop && !w.missed_memory && !silent &&
      !ran_too_long && !begins_nothing)
    accused_ = &w;
}

std::pair<std::uint64_t, std::uint64_t> simulation::somewhere(random_bits& r) const {
  if (buffers_.empty()) return {};
  std::size_t which = r.below(buffers_.size());
  for (std::size_t i = 0; i < buffers_.size() && !buffers_[which].model->seal.done; ++i)
    which = (which + 1) % buffers_.size();
  const memory_range m = buffers_[which].handle.memory();
  return {m.address, m.bytes};
}

void simulation::written_wildly() {
  for (const auto& m : models_)
    if (!m->seal.done) m->doubt();
}

// Everybody who is left behaves from now on.
void simulation::heal() {
  calm_ = true;
  record.note("calm");
  for (const auto& w : workers_) {
    w->hung = w->deaf = w->mute = w->unkillable = w->cannot_start = false;
    // Who has missed a message about memory is about to be ended.
    if (w->launched && (w->frozen || w->dishonest || w->kill_wanted || w->missed_memory))
      w->die({exit_status::ending::signalled, SIGKILL});
  }
}

void simulation::settle_down(const char* until, bool (simulation::*done)() const) {
  constexpr std::uint32_t most = 4000, patience = 40;
  for (std::uint32_t i = 0; !(this->*done)(); ++i) {
    if (i == most) violated(std::string("nothing moves any more: ") + until);
    ++record.steps;
    random_bits r(seed_, end_stream + record.steps);
    loop_->time += 1000;
    uploaders_act(r);
    switch (i % 4) {
      case 0:
        core_->answers.drive();
        break;
      case 1:
        loop_acts(r);
        break;
      default:
        workers_act(r);
    }
    check();
    if (i % patience != patience - 1) continue;
    leap();
    loop_->time += 20'000'000;  // some look again every millisecond
    check();
  }
}

bool simulation::all_answered() const {
  return std::all_of(requests_.begin() + static_cast<std::ptrdiff_t>(first_open_), requests_.end(),
                     [](const request& q) { return !q.answer || q.judged; });
}
bool simulation::has_stopped() const { return stopped_->ready(); }
bool simulation::is_up() const { return up_->ready(); }
bool simulation::is_steady() const {
  const bool known = std::none_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->dead && w->held; });
  return gave_up() || (known && core_->events.state() == device_state::ready);
}
// Callers that have not heard of an answer yet hold memory.
bool simulation::is_idle() const { return core_->requests.in_flight() == 0 && uploaders_.empty(); }

// After all faults: the device serves, and what it answers is right.
void simulation::prove_service() {
  settle_down("it neither serves nor stops", &simulation::is_steady);
  if (gave_up()) {
    if (unendable() || setup_.percent(50)) return;
    record.note("reset");
    up_ = gpu_->reset();
    settle_down("a reset is not answered", &simulation::is_up);
    if (auto ok = up_->take(); !ok) {
      if (unendable()) return;
      violated("a device that was reset does not serve: " + ok.error().text());
    }
  }
  if (core_->quarantine.quarantined() != 0) {
    up_ = gpu_->reset();
    settle_down("the quarantine is not lifted", &simulation::is_up);
    if (core_->quarantine.quarantined() != 0) violated("requests are in quarantine after a reset");
  }
  buffers_.clear();
  settle_down("tells are left", &simulation::is_idle);
  const auto x = gpu_->alloc<word>(4), y = gpu_->alloc<word>(4);
  const std::vector<word> values{1, 2, 3, 5};
  record.note("proof");
  // One after the other: the mailbox may be small.
  in_parts(nullptr, [&] { (void)gpu_->upload(x, values); });
  settle_down("the upload is left", &simulation::is_idle);
  (void)gpu_->copy(y, x);
  settle_down("the copy is left", &simulation::is_idle);
  proof_ = gpu_->download(y);
  settle_down("the download is not answered", &simulation::is_proven);
  const auto got = proof_->take();
  if (!got && gave_up()) return;
  if (!got) violated("a device without faults fails: " + got.error().text());
  if (*got != values) violated("a device without faults answers wrong data");
}
bool simulation::is_proven() const { return proof_->ready(); }

void simulation::finish() {
  record.note("close");
  closing_ = true;
  if (setup_.percent(30)) {
    closing_now_ = true;
    stopped_ = gpu_->close_now();
  } else {
    stopped_ = gpu_->close();
  }
  settle_down("the device does not stop", &simulation::has_stopped);
  while (loop_->has_jobs()) loop_->run_job();
  check();
  if (!all_answered()) violated("the device has stopped and left a request without an answer");
  for (int i = 0; uploaders_act(setup_); ++i)
    if (i == 1000) violated("an upload does not return");
  if (!uploaders_.empty()) violated("an upload waits for ever");
  buffers_.clear();
  requests_.clear();
  proof_.reset();
  const device_statistics s = gpu_->statistics();
  if (s.depth != 0) violated("slots are still taken: " + std::to_string(s.depth));
  if (s.memory.live_buffers != 0 || s.memory.used_bytes != 0)
    violated("device memory has leaked: " + std::to_string(s.memory.live_buffers) + " blocks");
  if (s.memory.sealed_bytes != 0) violated("memory is sealed that nobody has");
  if (s.host_memory.live_buffers != 0 || s.host_memory.used_bytes != 0)
    violated("host memory has leaked: " + std::to_string(s.host_memory.live_buffers) + " blocks");
  if (s.completed != core_->channel.newest_ticket())
    violated(std::to_string(core_->channel.newest_ticket()) + " requests were accepted, and " +
             std::to_string(s.completed) + " answers given");
  const std::weak_ptr<device_core> left = core_;
  gpu_.reset();
  core_.reset();
  stopped_.reset();
  up_.reset();
  while (loop_->has_jobs()) loop_->run_job();
  if (!left.expired()) violated("somebody still holds the device");
  if (simulated_link::alive != 0) violated("links to workers are left");
  if (!loop_->watched().empty()) violated("the loop still watches something");
  workers_.clear();
}

}  // namespace troupe::simulation
