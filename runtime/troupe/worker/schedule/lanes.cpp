// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/processor/prefetch.hpp>
#include <troupe/worker/process/last_words.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {
namespace {

constexpr std::size_t usual_payload_bytes = 5 * 64;
// The maximum time for which a lane of low priority lets others go first.
constexpr std::int64_t longest_yield_ns = 100'000'000;
constexpr std::uint64_t long_backlog = 256;

}  // namespace

lane_set::lane_set(protocol::view channel, operation* operations, reporter& reports, failure_log& failures,
                   wait_policy policy, bool threads, platform* gpu)
    : lanes_{channel, operations},
      reports_(reports),
      failures_(failures),
      policy_(policy),
      steps_(policy),
      threads_(threads),
      device_(lanes_, gpu, reports, policy, [this](const failure& why) {
        step_.fetch_add(1, std::memory_order_seq_cst);
        futex_wake(step_, futex_scope::process);
        if (context_lost_) context_lost_(why);
      }) {}

lane_set::~lane_set() {
  if (!threads_) return;
  drain();
  ending_.store(true);
  for (lane_state& l : lanes_.lanes) {
    l.wake.fetch_add(1);
    futex_wake(l.wake, futex_scope::process);
    if (l.thread.joinable()) l.thread.join();
  }
}

void lane_set::set_up(const lane_chooser& chooser) noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    lanes_[i].purpose = chooser.purpose_of(i);
    lanes_.channel.page().lanes[i].purpose.store(lanes_[i].purpose);
  }
}

void lane_set::issue(operation& op, std::uint32_t number) noexcept {
  op.at = {number, ++lanes_[number].issued};
  lanes_.channel.log(number, op.at.sequence).store(protocol::log_word(op.ticket, op.slot), std::memory_order_relaxed);
}

void lane_set::queue(operation& op) {
  lane_state& l = lanes_[op.at.lane];
  l.queued.store(op.at.sequence + op.together - 1, std::memory_order_seq_cst);
  if (!threads_) return;
  if (!l.thread.joinable()) {
    try {
      l.thread = std::thread([this, number = op.at.lane] { serve(number); });
    } catch (const std::system_error& e) {
      device_.lose(
          error::from_errno(reaction::context_lost, "worker", "starting the thread of a lane", e.code().value()));
    }
  } else if (l.parked.load(std::memory_order_seq_cst)) {
    l.wake.fetch_add(1);
    futex_wake(l.wake, futex_scope::process);
  }
}

bool lane_set::step(std::uint32_t number) noexcept {
  const std::uint64_t next = lanes_[number].ran.load(std::memory_order_relaxed) + 1;
  if (lanes_[number].queued.load(std::memory_order_relaxed) < next) return false;
  operation& head = lanes_.at({number, next});
  bool waits = false;
  for (std::uint32_t i = 0; i < head.together; ++i)
    lanes_.at({number, next + i}).waits.for_each([&](position p) { waits |= done(p.lane) < p.sequence; });
  if (waits) return false;
  run(head);
  return true;
}

// Yields all cores to the operations of other lanes. Called on the lane of low priority, if lanes are threads. The lane
// continues after a while, and does not yield to an operation that is still waiting.
void lane_set::yield_to_others() noexcept {
  const std::int64_t deadline = now_ns() + longest_yield_ns;
  const auto alone = [this] {
    return std::none_of(lanes_.lanes.begin(), lanes_.lanes.end(), [](const lane_state& l) {
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

// Prefetches what the pump wrote on its core, while earlier operations run.
void lane_set::prefetch(std::uint32_t number, std::uint64_t next, std::uint64_t queued) noexcept {
  if (queued >= next + 4) will_read(&lanes_.at({number, next + 4}), sizeof(operation));
  if (queued < next + 2) return;
  const operation& soon = lanes_.at({number, next + 2});
  will_read(soon.payload, usual_payload_bytes);
  will_write(&lanes_.channel.slot(soon.slot), 1);
}

void lane_set::serve(std::uint32_t number) noexcept {
  const signal_stack stack;
  lane_state& l = lanes_[number];
  const bool is_stream = device_.is_stream(number);
  if (auto ok = device_.enter(); !ok) return device_.lose(ok.error());
  spin_experience known(policy_);
  adaptive_wait wait(known);
  while (true) {
    // Reads `queued` first and `ran` second. While more is queued than has run, the pump runs nothing here, so `next`
    // belongs to this thread. In the other order the pump could, between the two reads, run `next` itself and queue the
    // operation after it.
    const std::uint64_t queued = l.queued.load(std::memory_order_acquire),
                        next = l.ran.load(std::memory_order_acquire) + 1;
    if (device_.is_lost()) return;
    if (queued >= next) {
      prefetch(number, next, queued);
      operation& op = lanes_.at({number, next});
      // The answers of complete requests must not be delayed until this operation has run.
      if (is_stream && !op.only_enqueues) device_.mark(number);
      if (!device_.has_platform() && l.purpose == lane_purpose::low) {
        for (std::uint32_t i = 0; i < op.together; ++i) (void)wait_for(lanes_.at({number, next + i}).waits, number);
        yield_to_others();
      }
      run(op);
      continue;
    }
    if (is_stream) device_.mark(number);
    if (ending_.load()) return;
    const auto keeps_others_waiting = [this] {
      const std::uint32_t shared = lanes_.channel.application().shared_core.load(std::memory_order_relaxed);
      return shared != 0 && shared == current_core();
    };
    if (wait.spin([&] { return l.queued.load(std::memory_order_acquire) >= next; }, keeps_others_waiting)) continue;
    reports_.announce_idle();
    // Announce, check again, sleep. `queue` stores `queued` and then reads `parked`, so one of the two threads finds
    // the other's store.
    const std::uint32_t before = l.wake.load();
    l.parked.store(true, std::memory_order_seq_cst);
    if (l.queued.load(std::memory_order_seq_cst) < l.ran.load(std::memory_order_seq_cst) + 1 && !ending_.load())
      wait.sleep_after_spin([&] { futex_wait(l.wake, before, futex_scope::process); });
    l.parked.store(false, std::memory_order_relaxed);
  }
}

// Every lane wakes the threads that sleep here after each of its steps.
template <class Reached>
void lane_set::sleep_until(Reached&& reached) noexcept {
  adaptive_wait wait(steps_);
  while (!wait.spin(reached) && !device_.is_lost()) {
    step_waiters_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = step_.load(std::memory_order_seq_cst);
    if (!reached() && !device_.is_lost())
      wait.sleep_after_spin([&] { futex_wait(step_, before, futex_scope::process); });
    step_waiters_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void lane_set::wait_until_done(position p) noexcept {
  // The counter is stored in an order with `step_waiters_`; done() is the one that no broken kernel can change.
  const auto reached = [&] {
    return lanes_.counter(p.lane).reaches(p.sequence, std::memory_order_seq_cst) && done(p.lane) >= p.sequence;
  };
  if (reached()) return;
  if (device_.is_stream(p.lane)) return device_.wait_until_done(p);
  sleep_until(reached);
}

// Waits for the operations that an operation on a lane depends on, before it runs. If both are on streams, makes one
// stream wait for the other instead, and returns what it waits for. If the device is lost, returns even if the waits
// are not over.
protocol::gate lane_set::wait_for(const wait_list& waits, std::uint32_t on_lane) noexcept {
  const bool on_stream = device_.is_stream(on_lane);
  protocol::gate on_device;
  waits.for_each([&](position p) {
    if (done(p.lane) >= p.sequence) return;
    if (!on_stream) return wait_until_done(p);
    device_.mark(on_lane);  // so that the answers of what it has completed do not wait too
    if (!device_.is_stream(p.lane)) return wait_until_done(p);
    sleep_until([&] { return lanes_[p.lane].ran.load(std::memory_order_seq_cst) >= p.sequence; });
    on_device.add(p.lane, lanes_.channel.log(p.lane, p.sequence).load(std::memory_order_relaxed));
    device_.make_stream_wait(on_lane, p);
  });
  return on_device;
}

bool lane_set::are_met(const wait_list& waits, std::uint32_t number) const noexcept {
  if (!device_.is_stream(number)) return waits.empty();
  bool all = true;
  waits.for_each([&](position p) {
    all &=
        (device_.is_stream(p.lane) ? lanes_[p.lane].ran.load(std::memory_order_acquire) : done(p.lane)) >= p.sequence;
  });
  return all;
}

bool lane_set::has_backlog() const noexcept {
  return device_.has_platform() && std::any_of(lanes_.lanes.begin(), lanes_.lanes.end(), [](const lane_state& l) {
           return l.queued.load(std::memory_order_relaxed) > l.ran.load(std::memory_order_relaxed) + long_backlog;
         });
}

void lane_set::drain() noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i) wait_until_done({i, lanes_[i].issued});
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
  return {.stream = device_.stream(op.at.lane),
          .lane = op.at.lane,
          .reserved = 0,
          .ticket = op.ticket,
          .reply = lanes_.channel.cell(op.slot).bytes,
          .news = [](void* r) { static_cast<reporter*>(r)->announce(); },
          .worker = &reports_,
          .recording = nullptr};
}

// Called after the operation's waits. Returns why it must not run; if it returns null, the operation has started and
// can no longer be cancelled.
failure_ptr lane_set::start(operation& op) noexcept {
  const failure_ptr why = failed_input(op);
  std::atomic<std::uint64_t>& word = lanes_.channel.slot(op.slot);
  const std::uint64_t started = protocol::slot_word(op.ticket, protocol::phase::started),
                      cancelled = protocol::slot_word(op.ticket, protocol::phase::cancelled);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (seen != cancelled)
    if (word.compare_exchange_weak(seen, started)) return why;
  return std::make_shared<failure>(failure{.reaction = reaction::retry_later,
                                           .code = ECANCELED,
                                           .domain = "device",
                                           .text = "cancelled before it started",
                                           .first = op.id()});
}

failure_ptr lane_set::execute(const operation& op, bool alone) noexcept {
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
    // An earlier operation may be the cause: a device reports its fault from the next call, whichever it is.
    if (device_.has_platform())
      device_.lose(
          error(error::details{.reaction = why.reaction, .domain = why.domain, .code = why.code, .text = why.text}),
          alone ? &op : nullptr);
    else if (context_lost_)
      context_lost_(why);
  }
  return std::make_shared<failure>(why);
}

void lane_set::report_failure(const operation& op, const failure_ptr& why) {
  const std::uint64_t number = reports_.report(op, *why);
  failures_.add({op.at, number, why, {op.touched.begin(), op.touched.end()}});
}

void lane_set::run(operation& op) noexcept {
  if (op.together > 1) return run_group(op);
  // Even an operation that will not run waits: later operations wait only for this one, and rely on its waits.
  const protocol::gate on_device = wait_for(op.waits, op.at.lane);
  if (device_.is_lost()) return;
  if (op.timed) start_time_limit(op, on_device);
  failure_ptr why = start(op);
  lanes_[op.at.lane].running.store(true, std::memory_order_relaxed);
  if (!why) why = execute(op);
  if (why && is_lost_with_context(*why)) return;
  if (why) report_failure(op, why);
  complete(op, why != nullptr);
}

// The application times operations that run. An enqueued operation need not run yet: in each lane only the first
// incomplete operation runs, with those that share its call, and not while the device makes it wait for other lanes. So
// the operations before this one are marked, and the gate says what it waits for.
void lane_set::start_time_limit(const operation& op, protocol::gate gate) noexcept {
  if (device_.is_stream(op.at.lane)) device_.mark(op.at.lane);
  lanes_.channel.gate(op.slot).store(gate.word(), std::memory_order_relaxed);
}

// Returns true for an operation that has not failed itself: it is lost, like everything that the device has not done,
// and may be sent again.
bool lane_set::is_lost_with_context(const failure& why) const noexcept {
  return why.reaction == reaction::context_lost && device_.is_lost();
}

// Makes one call for all members that can still run. A member that is cancelled or misses an input is left out and
// reported separately.
void lane_set::run_group(operation& head) noexcept {
  static_assert(most_in_order >= most_together);
  std::array<const operation*, most_in_order> going;
  std::array<const void*, most_in_order> payloads;
  std::array<troupe_engine_call, most_in_order> calls;
  std::uint32_t n = 0;
  const position first = head.at;
  const std::uint32_t all = head.together;
  const auto member = [&](std::uint32_t i) -> operation& { return lanes_.at({first.lane, first.sequence + i}); };
  protocol::gate on_device;
  for (std::uint32_t i = 0; i < all; ++i) on_device.add(wait_for(member(i).waits, first.lane));
  if (device_.is_lost()) return;
  for (std::uint32_t i = 0; i < all; ++i) {
    operation& op = member(i);
    if (op.timed) start_time_limit(op, on_device);
    on_device.share_a_call();  // true of all members but the first
    if (const failure_ptr why = start(op)) {
      report_failure(op, why);
      continue;
    }
    going[n] = &op;
    payloads[n] = op.payload;
    calls[n++] = call_of(op);
  }
  engine_failure unused;
  lanes_[first.lane].running.store(true, std::memory_order_relaxed);
  if (n < 2 || !head.what->run_group(head.engine, payloads.data(), calls.data(), n, &unused)) {
    for (std::uint32_t i = 0; i < n; ++i) {
      failure_ptr why = failed_input(*going[i]);  // may be that of a member that failed just now, if they run in order
      if (!why) why = execute(*going[i], n < 2);  // the call for all may have begun
      if (why && is_lost_with_context(*why)) return;
      if (why) report_failure(*going[i], why);
      if (i + 1 == n) break;
      complete(*going[i], true);  // its answer waits neither for the others nor for members left out
      lanes_[first.lane].running.store(true, std::memory_order_relaxed);
    }
  } else {
    std::atomic<std::uint64_t>& shared = lanes_.channel.page().lanes[first.lane].together;
    shared.store(shared.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  complete(member(all - 1), true);
}

void lane_set::complete(const operation& last, bool is_news_for_all) noexcept {
  // Read before the operation is complete, because then the pump may reuse its memory.
  const position up_to = last.at;
  const std::uint32_t slot = last.slot;
  const std::uint64_t ticket = last.ticket;
  lane_state& l = lanes_[up_to.lane];
  l.running.store(false, std::memory_order_relaxed);  // relaxed: the ordered store that follows publishes it too
  if (!device_.is_stream(up_to.lane)) {
    l.ran.store(up_to.sequence, std::memory_order_release);  // before `done`: a lane that is idle has run everything
    lanes_.counter(up_to.lane).store(up_to.sequence);
    if (is_news_for_all)
      reports_.announce();
    else
      reports_.announce(slot, ticket);
  } else {
    device_.mark_if_due(l.ran.exchange(up_to.sequence, std::memory_order_seq_cst), up_to);
  }
  wake_steps();
}

void lane_set::wake_steps() noexcept {
  if (step_waiters_.load(std::memory_order_seq_cst) == 0) return;
  step_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(step_, futex_scope::process);
}

}  // namespace troupe
