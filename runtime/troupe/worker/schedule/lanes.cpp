// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/prefetch.hpp>
#include <troupe/worker/process/last_words.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {
namespace {

constexpr std::size_t usual_payload_bytes = 5 * 64;
// How long what has low priority lets others go first.
constexpr std::int64_t most_patience_ns = 100'000'000;

}  // namespace

lane_set::lane_set(protocol::view channel, operation* operations, reporter& reports, failure_log& failures,
                   wait_policy policy, bool threads, platform* gpu)
    : channel_(channel),
      operations_(operations),
      reports_(reports),
      failures_(failures),
      policy_(policy),
      steps_(policy),
      device_steps_(policy, usable_cores(), work_by::gpu),
      threads_(threads),
      gpu_(gpu) {}

lane_set::~lane_set() {
  if (!threads_) return;
  drain();
  ending_.store(true);
  if (watcher_.joinable()) {
    watch_.fetch_add(1);
    futex_wake(watch_, futex_scope::process);
    watcher_.join();
  }
  for (lane& l : lanes_) {
    l.wake.fetch_add(1);
    futex_wake(l.wake, futex_scope::process);
    if (l.thread.joinable()) l.thread.join();
  }
}

void lane_set::set_up(const lane_chooser& chooser) noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    lanes_[i].purpose = chooser.purpose_of(i);
    channel_.page().lanes[i].purpose.store(lanes_[i].purpose);
  }
}

void lane_set::issue(operation& op, std::uint32_t number) noexcept {
  lane& l = lanes_[number];
  op.at = {number, ++l.issued};
  channel_.log(number, op.at.sequence).store(protocol::log_word(op.ticket, op.slot), std::memory_order_relaxed);
}

void lane_set::queue(operation& op) {
  lane& l = lanes_[op.at.lane];
  l.queued.store(op.at.sequence + op.together - 1, std::memory_order_seq_cst);
  if (!threads_) return;
  if (!l.thread.joinable()) {
    try {
      l.thread = std::thread([this, number = op.at.lane] { serve(number); });
    } catch (const std::system_error& e) {
      fault(error::from_errno(reaction::context_lost, "worker", "starting the thread of a lane", e.code().value()));
    }
  } else if (l.parked.load(std::memory_order_seq_cst)) {
    l.wake.fetch_add(1);
    futex_wake(l.wake, futex_scope::process);
  }
}

operation& lane_set::at(position p) const noexcept {
  return operations_[protocol::slot_of(channel_.log(p.lane, p.sequence).load(std::memory_order_relaxed))];
}

bool lane_set::step(std::uint32_t number) noexcept {
  const std::uint64_t next = lanes_[number].ran.load(std::memory_order_relaxed) + 1;
  if (lanes_[number].queued.load(std::memory_order_relaxed) < next) return false;
  operation& head = at({number, next});
  bool waits = false;
  for (std::uint32_t i = 0; i < head.together; ++i)
    at({number, next + i}).waits.for_each([&](position p) { waits |= done(p.lane) < p.sequence; });
  if (waits) return false;
  run(head);
  return true;
}

// Low priority, where the lanes are threads: what others do has all cores. Not for ever, and not for what only waits.
void lane_set::give_way() noexcept {
  const std::int64_t deadline = now_ns() + most_patience_ns;
  const auto alone = [this] {
    return std::none_of(lanes_.begin(), lanes_.end(), [](const lane& l) {
      return l.purpose != lane_purpose::low && l.running.load(std::memory_order_relaxed);
    });
  };
  step_waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (true) {
    const std::uint32_t before = step_.load(std::memory_order_seq_cst);
    if (alone() || now_ns() >= deadline) break;
    futex_wait(step_, before, futex_scope::process, deadline);
  }
  step_waiters_.fetch_sub(1, std::memory_order_relaxed);
}

// What the pump has written on its core comes here while what is before it is run.
void lane_set::look_ahead(std::uint32_t number, std::uint64_t next, std::uint64_t queued) noexcept {
  if (queued >= next + 4) will_read(&at({number, next + 4}), sizeof(operation));
  if (queued < next + 2) return;
  const operation& soon = at({number, next + 2});
  will_read(soon.payload, usual_payload_bytes);
  will_write(&channel_.slot(soon.slot), 1);
}

void lane_set::serve(std::uint32_t number) noexcept {
  const room_for_last_words room;
  lane& l = lanes_[number];
  if (gpu_ != nullptr)
    if (auto ok = gpu_->enter(); !ok) return fault(ok.error());
  spin_experience known(policy_);
  adaptive_wait wait(known);
  while (true) {
    // What is queued first, what has run second: while more is queued than has run the pump runs nothing here, so
    // `next` is this thread's. The other way round the pump could run `next` itself and queue the one after it in
    // between.
    const std::uint64_t queued = l.queued.load(std::memory_order_acquire),
                        next = l.ran.load(std::memory_order_acquire) + 1;
    if (is_lost()) return;
    if (queued >= next) {
      look_ahead(number, next, queued);
      operation& op = at({number, next});
      // What is done already shall not seem to wait for this.
      if (l.stream != nullptr && !op.only_enqueues) mark(number);
      if (gpu_ == nullptr && l.purpose == lane_purpose::low) {
        for (std::uint32_t i = 0; i < op.together; ++i) (void)wait_for(at({number, next + i}).waits, number);
        give_way();
      }
      run(op);
      continue;
    }
    if (l.stream != nullptr) mark(number);
    if (ending_.load()) return;
    const auto keeps_others_waiting = [this] {
      const std::uint32_t shared = channel_.application().shared_core.load(std::memory_order_relaxed);
      return shared != 0 && shared == current_core();
    };
    if (wait.spin([&] { return l.queued.load(std::memory_order_acquire) >= next; }, keeps_others_waiting)) continue;
    reports_.announce_idle();
    // Parking: announce, look again, sleep. `queue` stores first and looks at the announcement second, so one of the
    // two sees the other.
    const std::uint32_t before = l.wake.load();
    l.parked.store(true, std::memory_order_seq_cst);
    if (l.queued.load(std::memory_order_seq_cst) < l.ran.load(std::memory_order_seq_cst) + 1 && !ending_.load())
      wait.sleep_after_spin([&] { futex_wait(l.wake, before, futex_scope::process); });
    l.parked.store(false, std::memory_order_relaxed);
  }
}

// Lanes wake those that sleep here with every step.
template <class Reached>
void lane_set::sleep_until(Reached&& reached) noexcept {
  adaptive_wait wait(steps_);
  while (!wait.spin(reached) && !lost_.load(std::memory_order_relaxed)) {
    step_waiters_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = step_.load(std::memory_order_seq_cst);
    if (!reached() && !lost_.load(std::memory_order_seq_cst))
      wait.sleep_after_spin([&] { futex_wait(step_, before, futex_scope::process); });
    step_waiters_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void lane_set::wait_until_done(std::uint32_t number, std::uint64_t sequence) noexcept {
  const auto reached = [&] { return channel_.page().lanes[number].done.load(std::memory_order_seq_cst) >= sequence; };
  if (reached()) return;
  if (lanes_[number].stream != nullptr) return wait_for_device({number, sequence});
  sleep_until(reached);
}

// For an operation that is about to run on a lane. Of the device, streams wait for each other by themselves: for what
// is what it says. Once the device is lost it returns whatever has been done.
protocol::gate lane_set::wait_for(const wait_list& waits, std::uint32_t on_lane) noexcept {
  void* const stream = lanes_[on_lane].stream;
  protocol::gate on_device;
  waits.for_each([&](position p) {
    lane& l = lanes_[p.lane];
    if (done(p.lane) >= p.sequence) return;
    if (stream == nullptr) return wait_until_done(p.lane, p.sequence);
    mark(on_lane);  // what it has done already shall not seem to wait, too
    if (l.stream == nullptr) return wait_until_done(p.lane, p.sequence);
    sleep_until([&] { return l.ran.load(std::memory_order_seq_cst) >= p.sequence; });
    mark(p);
    on_device.add(p.lane, channel_.log(p.lane, p.sequence).load(std::memory_order_relaxed));
    if (auto ok = gpu_->wait(stream, channel_.page().lanes[p.lane].done, p.sequence); !ok) fault(ok.error());
  });
  return on_device;
}

bool lane_set::are_met(const wait_list& waits, std::uint32_t number) const noexcept {
  if (lanes_[number].stream == nullptr) return waits.empty();
  bool all = true;
  waits.for_each([&](position p) {
    const lane& l = lanes_[p.lane];
    all &= (l.stream != nullptr ? l.ran.load(std::memory_order_acquire) : done(p.lane)) >= p.sequence;
  });
  return all;
}

void lane_set::drain() noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i) wait_until_done(i, lanes_[i].issued);
}

failure_ptr lane_set::failed_input(const operation& op) const {
  if (op.doomed) return op.doomed;
  if (failures_.empty()) [[likely]]
    return nullptr;
  for (const position p : op.inputs.producers())
    if (auto cause = failures_.find(p)) return passed_on(cause, op.id());
  return nullptr;
}

troupe_engine_call lane_set::call_of(const operation& op) noexcept {
  return {.stream = lanes_[op.at.lane].stream,
          .lane = op.at.lane,
          .reserved = 0,
          .ticket = op.ticket,
          .reply = channel_.cell(op.slot).bytes,
          .news = [](void* r) { static_cast<reporter*>(r)->announce(); },
          .worker = &reports_,
          .recording = nullptr};
}

// After its waits: why it must not run, or nothing, and from then on it cannot be cancelled.
failure_ptr lane_set::start(operation& op) noexcept {
  const failure_ptr why = failed_input(op);
  std::atomic<std::uint64_t>& word = channel_.slot(op.slot);
  const std::uint64_t started = protocol::slot_word(op.ticket, protocol::phase::started),
                      cancelled = protocol::slot_word(op.ticket, protocol::phase::cancelled);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (seen != cancelled)
    if (word.compare_exchange_weak(seen, started)) return why;
  return std::make_shared<failure>(failure{
      .reaction = reaction::retry_later, .domain = "device", .text = "cancelled before it started", .first = op.id()});
}

failure_ptr lane_set::execute(const operation& op) noexcept {
  const troupe_engine_call c = call_of(op);
  engine_failure f;
  const working_on this_one(op.ticket);
  if (op.what->run(op.engine, op.payload, &c, &f)) return nullptr;
  f.make_sound();
  const failure why{.reaction = static_cast<reaction>(f.reaction),
                    .code = f.code,
                    .domain = f.domain,
                    .text = f.text,
                    .first = op.id()};
  if (const std::uint32_t whose = f.whose != 0 ? f.whose - 1 : op.library; f.restart_library != 0 && whose < 64)
    broken_.fetch_or(std::uint64_t{1} << whose);
  if (why.reaction == reaction::context_lost) {
    // A device answers with what has gone wrong before, whatever is asked next.
    if (gpu_ != nullptr)
      fault(error(error::details{.reaction = why.reaction, .domain = why.domain, .code = why.code, .text = why.text}),
            &op);
    else if (context_lost_)
      context_lost_(why);
  }
  return std::make_shared<failure>(why);
}

void lane_set::tell(const operation& op, const failure_ptr& why) {
  const std::uint64_t number = reports_.report(op, *why);
  failures_.add({op.at, number, why, {op.touched.begin(), op.touched.end()}});
}

void lane_set::run(operation& op) noexcept {
  if (op.together > 1) return run_group(op);
  // Waits come first, also for an operation that will not run: later ones wait for this one alone and rely on what it
  // waited for.
  const protocol::gate on_device = wait_for(op.waits, op.at.lane);
  if (is_lost()) return;
  if (op.timed) is_about_to_run(op, on_device);
  failure_ptr why = start(op);
  lanes_[op.at.lane].running.store(true, std::memory_order_relaxed);
  if (!why) why = execute(op);
  if (why && goes_with_the_context(*why)) return;
  if (why) tell(op, why);
  complete(op.at);
}

// The application counts the time of what runs, and what is only enqueued does not: of each lane only the first runs,
// with those that share its call, and that not while the device keeps it waiting for other lanes.
void lane_set::is_about_to_run(const operation& op, protocol::gate gate) noexcept {
  if (lanes_[op.at.lane].stream != nullptr) mark(op.at.lane);
  channel_.gate(op.slot).store(gate.word(), std::memory_order_relaxed);
}

// It has not failed by itself: it is lost, and may be asked again, as all that the device has not done.
bool lane_set::goes_with_the_context(const failure& why) const noexcept {
  return why.reaction == reaction::context_lost && is_lost();
}

// One call for all that can still run. Each has its own answer: what is cancelled, or misses an input, is left out.
void lane_set::run_group(operation& head) noexcept {
  std::array<const operation*, most_together> going;
  std::array<const void*, most_together> payloads;
  std::array<troupe_engine_call, most_together> calls;
  std::uint32_t n = 0;
  const position first = head.at;
  const std::uint32_t all = head.together;
  const auto member = [&](std::uint32_t i) -> operation& { return at({first.lane, first.sequence + i}); };
  protocol::gate on_device;
  for (std::uint32_t i = 0; i < all; ++i) on_device.add(wait_for(member(i).waits, first.lane));
  if (is_lost()) return;
  for (std::uint32_t i = 0; i < all; ++i) {
    operation& op = member(i);
    if (op.timed) is_about_to_run(op, on_device);
    on_device.share_a_call();  // those behind it
    if (const failure_ptr why = start(op)) {
      tell(op, why);
      continue;
    }
    going[n] = &op;
    payloads[n] = op.payload;
    calls[n++] = call_of(op);
  }
  engine_failure unused;
  lanes_[first.lane].running.store(true, std::memory_order_relaxed);
  if (n < 2 || !head.what->run_group(head.engine, payloads.data(), calls.data(), n, &unused)) {
    for (std::uint32_t i = 0; i < n; ++i)
      if (const failure_ptr why = execute(*going[i])) {
        if (goes_with_the_context(*why)) return;
        tell(*going[i], why);
      }
  }
  complete({first.lane, first.sequence + all - 1});
}

void lane_set::complete(position up_to) noexcept {
  lane& l = lanes_[up_to.lane];
  l.running.store(false, std::memory_order_relaxed);  // before the ordered store that follows, which costs enough
  if (l.stream == nullptr) {
    l.ran.store(up_to.sequence, std::memory_order_release);  // first: a lane that is idle has run everything
    channel_.page().lanes[up_to.lane].done.store(up_to.sequence, std::memory_order_seq_cst);
    reports_.announce();
  } else {
    const std::uint64_t before = l.ran.exchange(up_to.sequence, std::memory_order_seq_cst);
    bool say_so =
        up_to.sequence - l.marked.load(std::memory_order_relaxed) >= l.unmarked.load(std::memory_order_relaxed);
    for (std::uint64_t s = before + 1; s <= up_to.sequence; ++s)
      if (const operation& op = at({up_to.lane, s}); op.timed || op.awaited.load(std::memory_order_seq_cst))
        say_so = true;
    if (say_so) mark(up_to.lane);
  }
  wake_steps();
}

void lane_set::wake_steps() noexcept {
  if (step_waiters_.load(std::memory_order_seq_cst) == 0) return;
  step_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(step_, futex_scope::process);
}

}  // namespace troupe
