// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/faults/internal/kind_is_request.hpp>
#include <troupe/faults/requests.hpp>
#include <troupe/faults/storm.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::faults {
namespace {

bool needs_a_standby(kind k) noexcept { return k == kind::kill_standby || k == kind::stop_standby; }

// Returns true if the worker that serves can survive the fault.
bool can_survive(kind k) noexcept {
  return needs_a_standby(k) || k == kind::stop_worker || k == kind::hang || k == kind::garbage;
}

// Returns how long `hang` runs; 0: without end.
std::int64_t hang_milliseconds(const storm_options& o) noexcept {
  if (!o.run_timeout.unlimited() || o.pause.unlimited()) return 0;
  return std::max<std::int64_t>(o.pause.nanoseconds / 1'000'000, 1);
}

constexpr std::int64_t look_ns = 100'000;               // time between two checks of a condition
constexpr std::int64_t garbage_shows_ns = 500'000'000;  // time within which `garbage` has its effect, if it has any

}  // namespace

storm::storm(device d, storm_options o)
    : device_(d),
      options_(std::move(o)),
      injector_(d),
      events_(d.watch()),
      random_(options_.seed),
      began_ns_(now_ns()) {
  if (options_.kinds.empty()) options_.kinds.assign(all_kinds().begin(), all_kinds().end());
  thread_ = start_thread([this] { run(); });
}

storm::~storm() { stop(); }

void storm::stop() {
  {
    const std::scoped_lock guard(lock_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void storm::wait() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return over_ || stopping_; });
}

std::vector<injection> storm::record() const {
  const std::scoped_lock guard(lock_);
  return record_;
}

std::uint64_t storm::count() const {
  const std::scoped_lock guard(lock_);
  return record_.size();
}

std::uint64_t storm::hits() const {
  const std::scoped_lock guard(lock_);
  return static_cast<std::uint64_t>(
      std::count_if(record_.begin(), record_.end(), [](const injection& i) { return i.hit; }));
}

// Sleeps until a moment. Returns false if the storm ends before.
bool storm::sleep_until(std::int64_t moment_ns) {
  while (true) {
    const std::int64_t next = std::min(moment_ns, resume_at_ns_);
    {
      std::unique_lock guard(lock_);
      const auto until = std::chrono::nanoseconds(std::max<std::int64_t>(next - now_ns(), 0));
      if (changed_.wait_for(guard, until, [this] { return stopping_; })) return false;
    }
    resume_stopped();
    if (now_ns() >= moment_ns) return true;
  }
}

// Continues the stopped processes when their pause is over.
void storm::resume_stopped() {
  if (now_ns() < resume_at_ns_) return;
  resume_at_ns_ = INT64_MAX;
  (void)injector_.kill_all(SIGCONT);
}

void storm::run() {
  std::exponential_distribution<double> gap_s(std::max(options_.per_second, 1e-3));
  std::uniform_int_distribution<std::size_t> which(0, options_.kinds.size() - 1);
  std::int64_t due = began_ns_;
  for (std::uint64_t n = 0; n < options_.most; ++n) {
    due += static_cast<std::int64_t>(gap_s(random_) * 1e9);
    const kind next = options_.kinds[which(random_)];
    if (!sleep_until(due)) break;
    const injection done = inject(next);
    const std::scoped_lock guard(lock_);
    record_.push_back(done);
  }
  (void)injector_.kill_all(SIGCONT);
  const std::scoped_lock guard(lock_);
  over_ = true;
  changed_.notify_all();
}

injection storm::inject(kind k) {
  injection what{.kind = k};
  while (events_.poll()) {
  }
  what.generation_before = device_.statistics().generation;
  what.at_ns = now_ns() - began_ns_;
  answer_ = {};
  what.hit = is_request(k) ? send(k) : hit_processes(k);
  if (options_.one_at_a_time && what.hit) await_recovery(what);
  what.generation_after = device_.statistics().generation;
  return what;
}

bool storm::hit_processes(kind k) {
  switch (k) {
    case kind::kill_worker:
      return injector_.kill_worker() > 0;
    case kind::kill_standby:
      return injector_.kill_standby() > 0;
    case kind::kill_all:
      return injector_.kill_all() > 0;
    case kind::kill_promoted:
      return kill_promoted();
    case kind::stop_worker:
    case kind::stop_standby:
      resume_at_ns_ = std::min(resume_at_ns_, options_.pause.after(now_ns()));
      return (k == kind::stop_worker ? injector_.stop_worker() : injector_.stop_standby()) > 0;
    default:
      return false;
  }
}

// Kills the worker, and its successor at a random moment of its promotion.
bool storm::kill_promoted() {
  std::uniform_int_distribution<std::int64_t> later_ns(0, 2'000'000);
  const std::int64_t again = later_ns(random_);
  if (injector_.kill_worker() == 0) return false;
  (void)sleep_until(now_ns() + again);
  return injector_.kill_standby() > 0 || injector_.kill_worker() > 0;
}

bool storm::send(kind k) {
  const std::uint64_t number = random_();
  const auto ask = [&](const auto& fault) {
    answer_ = device_.ask(fault, {.timeout = std::chrono::seconds(1), .run_timeout = options_.run_timeout});
    return !refused();
  };
  switch (k) {
    case kind::segmentation_fault:
      return ask(segmentation_fault{.number = number});
    case kind::abort:
      return ask(faults::abort{.number = number});
    case kind::abort_in_helper:
      return ask(abort_in_helper{.number = number});
    case kind::illegal_instruction:
      return ask(illegal_instruction{.number = number});
    case kind::floating_point_trap:
      return ask(floating_point_trap{.number = number});
    case kind::exit:
      return ask(faults::exit{.number = number});
    case kind::stack_overflow:
      return ask(stack_overflow{.number = number});
    case kind::hang:
      return ask(faults::hang{.milliseconds = hang_milliseconds(options_), .number = number});
    case kind::exhaust_memory:
      return ask(faults::exhaust_memory{.most_bytes = options_.exhaust_bytes, .number = number});
    case kind::garbage:
      return ask(faults::garbage{.seed = number});
    case kind::failed_assertion:
      return ask(faults::failed_assertion{.number = number});
    case kind::shared_memory_overflow:
      return ask(faults::shared_memory_overflow{.number = number});
    default:
      return false;
  }
}

// Returns true if the last request certainly did not end a worker, because it never ran.
bool storm::refused() {
  if (!answer_.valid() || !answer_.ready()) return false;
  const result<void> told = std::exchange(answer_, {}).get();
  return !told && told.error().reaction() != reaction::context_lost;
}

void storm::await_recovery(injection& what) {
  const std::int64_t passes_ns = now_ns() + (what.kind == kind::garbage ? garbage_shows_ns : 0);
  while (device_.state() != device_state::stopped && sleep_until(now_ns() + look_ns)) {
    if (refused()) {
      what.hit = false;
      return;
    }
    const bool lost = device_.statistics().generation > what.generation_before;
    const bool passed = can_survive(what.kind) && !answer_.valid() && now_ns() >= passes_ns;
    if (!lost && !passed) continue;
    note_events(what);
    if (!has_answered(what)) continue;
    what.answers_ns = now_ns() - began_ns_;
    note_events(what);  // events that arrived meanwhile
    return;
  }
}

// A fault may end several workers: `seen_ns` is the time of the first loss, `serving_ns` that of the last successor.
void storm::note_events(injection& what) {
  const auto ns_of = [this](std::chrono::system_clock::time_point t) {
    const auto ago = std::chrono::system_clock::now() - t;
    return now_ns() - began_ns_ - std::chrono::duration_cast<std::chrono::nanoseconds>(ago).count();
  };
  while (const auto e = events_.poll()) {
    if (e->kind == event_kind::fault && what.seen_ns == 0) what.seen_ns = ns_of(e->fault->when);
    if (e->kind == event_kind::serving && what.seen_ns != 0) what.serving_ns = ns_of(e->when);
  }
}

// Returns true if the next worker has answered a request: any of the device's, or a ping that is sent for this.
bool storm::has_answered(const injection& what) {
  if (what.serving_ns != 0)
    for (const lane_statistics& l : device_.statistics().lanes)
      if (l.completed != 0) return true;
  // Must not block, not even for room in the mailbox: this thread may have to continue a stopped process meanwhile.
  auto pong = device_.ask(memory::ping{}, {.timeout = std::chrono::milliseconds(10), .waits_for_room = false});
  const auto told = pong.get_for(std::chrono::milliseconds(20));
  return told && *told;
}

}  // namespace troupe::faults
