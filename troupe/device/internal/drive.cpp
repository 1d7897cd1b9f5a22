// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Completions: how answers get from shared memory to those who wait. Everything read from shared memory is hostile: it
// is read once into a local, checked, and only the local is used.
#include <algorithm>
#include <cstring>
#include <troupe/async/kept_continuations.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/device/internal/report.hpp>
#include <troupe/device/internal/sleep_for_news.hpp>
#include <troupe/device/internal/transfer.hpp>

namespace troupe {
namespace {

// A worker that has damaged the words others sleep on must not keep them asleep for ever.
constexpr std::int64_t longest_idle_ns = 10'000'000'000;

}  // namespace

thread_local constinit const device_core* device_core::reacting_ = nullptr;

bool device_core::drive() noexcept {
  if (channel_.base == nullptr) return true;
  bool mine = true;
  job* continuations;
  {
    kept_continuations kept;
    for (bool again = true; again;) {
      // Whoever finds the lock taken leaves a note, and the holder looks again after unlocking: so what came in while
      // the holder was past looking is not forgotten. The second try covers a holder that unlocked before it could see
      // the note.
      mine = drive_lock_.try_lock();
      if (!mine) {
        drive_again_.store(true, std::memory_order_seq_cst);
        mine = drive_lock_.try_lock();
      }
      if (mine) {
        drive_again_.exchange(false, std::memory_order_seq_cst);
        collect();
        drive_lock_.unlock();
      }
      again = mine && drive_again_.load(std::memory_order_seq_cst);
      // When a transfer is over, a device that closes may have nothing left to wait for.
      if (has_transfers_.load(std::memory_order_relaxed)) again |= pump_transfers();
    }
    continuations = kept.take();
  }
  hand_over(continuations);
  return mine;
}

void device_core::drive_surely() noexcept {
  if (channel_.base == nullptr) return;
  job* continuations;
  {
    kept_continuations kept;
    const drive_guard guard(*this);
    collect();
    continuations = kept.take();
  }
  hand_over(continuations);
  drive();  // for the transfers
}

// Continuations are the reactor's: a thread that waits for an answer of its own may hold locks that they need.
void device_core::hand_over(job* first) noexcept {
  if (first == nullptr) return;
  {
    std::unique_lock guard(handed_lock_);
    if (reactor_gone_) {
      guard.unlock();
      return post_all(first);
    }
    *handed_end_ = first;
    while (*handed_end_ != nullptr) handed_end_ = &(*handed_end_)->next;
    has_handed_.store(true, std::memory_order_seq_cst);
  }
  if (on_reactor()) return;  // which looks before it sleeps
  wake_waiters();
  wake_reactor();
}

void device_core::run_handed() noexcept {
  while (has_handed_.load(std::memory_order_relaxed)) {
    job* first;
    {
      const std::scoped_lock guard(handed_lock_);
      first = std::exchange(handed_, nullptr);
      handed_end_ = &handed_;
      has_handed_.store(false, std::memory_order_relaxed);
    }
    post_all(first);
  }
}

void device_core::collect() {
  if (!violated_.load(std::memory_order_relaxed)) {
    // Counters first, then reports, then retiring. A report is published before its operation's counter moves, and an
    // operation that depends on another completes after it: so whatever the counters below show as done, its failures
    // and those of everything it depended on are among the reports read next.
    std::array<std::uint64_t, max_lanes> done;
    for (std::uint32_t i = 0; i < max_lanes; ++i)
      done[i] = channel_.page().lanes[i].done.load(std::memory_order_seq_cst);
    read_reports();
    if (has_cancelled_.load(std::memory_order_relaxed)) take_cancelled();
    if (!violated_.load(std::memory_order_relaxed)) retire_lanes(done);
  } else if (has_cancelled_.load(std::memory_order_relaxed)) {
    take_cancelled();  // no worker serves, and nobody waits for one to be told this
  }
  if (dead_.load(std::memory_order_seq_cst)) answer_everything();
  if (closing_.load(std::memory_order_seq_cst)) look_whether_drained();
}

// With its request retired first, where it can be: whoever has the answer finds its memory given back and its slot
// free.
void device_core::settle(std::uint32_t slot, const error* why, bool retires) noexcept {
  ledger_entry& e = ledger_[slot];
  e.answered = true;
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // under the lock
  if (why != nullptr) failed_.store(failed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  recent_[recent_count_++ % recent_.size()] = {e.ticket.load(std::memory_order_relaxed), e.info};
  if (why != nullptr && !retires) e.failure = std::make_unique<const error>(*why);
  pending_core* const to = std::exchange(e.answer, nullptr);
  const request_info* const info = e.info;
  std::array<std::byte, max_reply_bytes> reply;
  if (to != nullptr && why == nullptr) std::memcpy(reply.data(), channel_.cell(slot).bytes, reply.size());
  if (retires) retire(slot);
  if (to == nullptr) return;
  info->answer(*to, reply.data(), why);
  to->release();
}

void device_core::read_reports() {
  std::array<std::byte, protocol::max_report_bytes> room;
  while (!violated_.load(std::memory_order_relaxed)) {
    const ring_record record = reports_->read(room);
    if (record.status == read_status::none) return;
    if (!record) return violated("the report ring");
    auto report = parse_report(record.payload);
    if (!report) return violated("a report");
    const auto& head = report->head;
    const std::uint64_t expected = reports_seen_.load(std::memory_order_relaxed) + 1;
    if (head.number != expected || head.slot >= ledger_.capacity()) return violated("a report's number or slot");
    ledger_entry& e = ledger_[head.slot];
    if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != head.ticket)
      return violated("a report for a request that is not there");
    // Cancelled by us, which the lane reports in words of its own: ours say why.
    if (channel_.slot(head.slot).load(std::memory_order_acquire) ==
        protocol::slot_word(head.ticket, protocol::phase::cancelled))
      take_cancelled();
    name_cause(*report, *e.info);
    report->what.generation = memory_->generation();
    fail(head.slot, error(std::move(report->what)), false);
    reports_seen_.store(expected, std::memory_order_release);
  }
}

// The worker has no name for a request that none of its engines knows, nor have the requests that fail because of it.
void device_core::name_cause(parsed_report& report, const request_info& info) {
  request_id& cause = report.what.request;
  if (!cause.name.empty()) return;
  if (cause.ticket == report.head.ticket) {
    cause.name = info.label;
    nameless_[nameless_count_++ % nameless_.size()] = {cause.ticket, info.label};
    return;
  }
  const auto known =
      std::find_if(nameless_.begin(), nameless_.end(), [&](const auto& n) { return n.first == cause.ticket; });
  cause.name = known != nameless_.end() ? known->second : "an unknown request";
}

void device_core::retire_lanes(const std::array<std::uint64_t, max_lanes>& done) {
  std::uint64_t retired = 0;
  for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
    std::uint64_t& seen = retired_[lane];
    if (done[lane] == seen) [[likely]]
      continue;
    if (done[lane] - seen > ledger_.capacity()) return violated("a lane's counter");
    for (; seen != done[lane]; ++seen, ++retired) {
      const std::uint64_t word = channel_.log(lane, seen + 1).load(std::memory_order_relaxed);
      const std::uint32_t slot = protocol::slot_of(word);
      if (slot >= ledger_.capacity()) return violated("a lane's log");
      ledger_entry& e = ledger_[slot];
      if (!e.in_flight.load(std::memory_order_acquire) || protocol::log_word(e.ticket, slot) != word)
        return violated("a lane's log");
      if (e.answered)
        retire(slot);
      else
        settle(slot, nullptr, true);
    }
  }
  if (retired == 0) return;
  const std::uint64_t total = retired_total_.load(std::memory_order_relaxed) + retired;
  retired_total_.store(total, std::memory_order_relaxed);
  channel_.application().retired.store(total, std::memory_order_relaxed);
  if (room_waiters_.load(std::memory_order_seq_cst) != 0) wake_waiters();
}

void device_core::retire(std::uint32_t slot) noexcept {
  ledger_entry& e = ledger_[slot];
  e.release();
  e.in_flight.store(false, std::memory_order_seq_cst);
  ledger_.give_back(slot);
}

void device_core::fail(std::uint32_t slot, const error& why, bool retires) {
  ledger_entry& e = ledger_[slot];
  if (e.answered) return;
  // Before the answer: whoever has it finds the outputs stale. Once nothing will run any more, nobody can read them,
  // and all memory is stale as a whole.
  if (!dead_.load(std::memory_order_relaxed)) {
    spoil_outputs(e, why);
    failures_seen_.fetch_add(1, std::memory_order_seq_cst);
    note_spoiled_readers(e, why);
  }
  settle(slot, &why, retires);
}

void device_core::spoil_outputs(const ledger_entry& e, const error& why) {
  for (const auto& [a, where] : e.accesses()) {
    block* b = where.get();
    if (a.mode == access_mode::read || b == nullptr || !spoils(*b, why)) continue;
    memory_->mark_stale(*b, a.begin, a.end, e.ticket, why, [&](auto&& replaced) {
      for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
        const ledger_entry& later = ledger_[s];
        if (!later.in_flight.load(std::memory_order_seq_cst) || later.ticket <= e.ticket) continue;
        for (const block_access& also : later.accesses())
          if (also.what.mode == access_mode::write && also.where.get() == b) replaced(also.what.begin, also.what.end);
      }
    });
  }
}

// What later requests replace is not marked, so no mark tells those between.
void device_core::note_spoiled_readers(const ledger_entry& e, const error& why) {
  for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
    ledger_entry& later = ledger_[s];
    if (later.in_flight.load(std::memory_order_seq_cst) && !later.answered && !later.failure &&
        later.ticket > e.ticket && reads_from(later, e, why))
      later.failure = std::make_unique<const error>(why);
  }
}

// A worker that was lost has taken nothing of what it could not write.
bool device_core::spoils(const block& b, const error& why) const noexcept {
  return why.reaction() != reaction::context_lost || !memory_->outlives_workers(b);
}

// Something that `writer` writes, and spoils by failing, and no request between them writes.
bool device_core::reads_from(const ledger_entry& reader, const ledger_entry& writer, const error& why) const noexcept {
  for (const auto& [read, where] : reader.accesses())
    for (const auto& [written, whose] : writer.accesses()) {
      const std::uint64_t begin = std::max(read.begin, written.begin), end = std::min(read.end, written.end);
      if (read.mode != access_mode::write && written.mode != access_mode::read && where.get() == whose.get() &&
          begin < end && spoils(*where.get(), why) &&
          !replaced_between(where.get(), begin, end, writer.ticket, reader.ticket))
        return true;
    }
  return false;
}

// A request that was checked before a failure became known and published after it.
void device_core::look_at_inputs_again(std::uint32_t slot, std::uint64_t ticket) {
  const drive_guard guard(*this);
  ledger_entry& e = ledger_[slot];
  if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket != ticket || e.answered || e.failure) return;
  for (const auto& [read, where] : e.accesses()) {
    if (read.mode == access_mode::write) continue;
    if (auto cause = memory_->stale_cause(*where.get(), read.begin, read.end, ticket))
      return void(e.failure = std::make_unique<const error>(std::move(*cause)));
  }
}

// Do requests between these two write all of it?
bool device_core::replaced_between(const block* where, std::uint64_t begin, std::uint64_t end, std::uint64_t after,
                                   std::uint64_t before) const noexcept {
  for (bool further = true; further && begin < end;) {
    further = false;
    for (std::uint32_t s = 0; s < ledger_.capacity(); ++s) {
      const ledger_entry& e = ledger_[s];
      if (!e.in_flight.load(std::memory_order_seq_cst) || e.ticket <= after || e.ticket >= before) continue;
      for (const auto& [what, of] : e.accesses())
        if (what.mode == access_mode::write && of.get() == where && what.begin <= begin && begin < what.end) {
          begin = what.end;
          further = true;
        }
    }
  }
  return begin >= end;
}

void device_core::answer_everything() {
  error why(reaction::stopped, "device", "stopped");
  {
    const std::scoped_lock guard(why_lock_);
    if (death_) why = *death_;
  }
  for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot) {
    ledger_entry& e = ledger_[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst)) continue;
    if (e.answered) {
      retire(slot);
      continue;
    }
    error::details d = why.all();
    d.request = {std::string(e.info->label), e.ticket};
    d.generation = memory_->generation();
    fail(slot, error(std::move(d)), true);
  }
}

void device_core::cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept {
  if (slot >= ledger_.capacity()) return;
  {
    // One step for whoever takes the lock: a slot that is marked is also on the list.
    const std::scoped_lock guard(cancel_lock_);
    std::atomic<std::uint64_t>& word = channel_.slot(slot);
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    do {
      if (protocol::ticket_of(seen) >= ticket) return;
    } while (!word.compare_exchange_weak(seen, protocol::slot_word(ticket, protocol::phase::cancelled)));
    cancelled_.push_back({slot, ticket, why, how});
    has_cancelled_.store(true, std::memory_order_relaxed);
  }
  drive();
}

void device_core::take_cancelled() {
  {
    const std::scoped_lock guard(cancel_lock_);
    cancelled_.swap(cancelled_now_);
    has_cancelled_.store(false, std::memory_order_relaxed);
  }
  for (const cancellation& c : cancelled_now_) {
    ledger_entry& e = ledger_[c.slot];
    if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != c.ticket) continue;
    fail(c.slot,
         error(error::details{.reaction = c.how,
                              .domain = "device",
                              .text = c.why,
                              .request = {std::string(e.info->label), e.ticket},
                              .generation = memory_->generation()}),
         false);
  }
  cancelled_now_.clear();
}

bool device_core::news() const noexcept {
  std::uint64_t done = 0;
  for (const protocol::lane_counters& lane : channel_.page().lanes) done += lane.done.load(std::memory_order_relaxed);
  return (done != retired_total_.load(std::memory_order_relaxed) && !violated_.load(std::memory_order_relaxed)) ||
         (has_transfers_.load(std::memory_order_relaxed) && transfer_has_data());
}

bool device_core::transfer_has_data() const noexcept {
  const std::scoped_lock guard(transfer_lock_);
  return std::any_of(transfers_.begin(), transfers_.end(), [](const auto& t) { return t->has_data(); });
}

void device_core::wait(pending_core& core, std::int64_t deadline_ns) noexcept {
  if (channel_.base == nullptr) return void(core.sleep(deadline_ns));
  const bool reacts = on_reactor();  // blocked inside a continuation: the others go on
  const auto ready = [&] { return core.done() || (reacts && has_handed_.load(std::memory_order_seq_cst)); };
  adaptive_wait spin(options_.wait, cores_);
  while (!core.done()) {
    const bool collected = drive();
    if (reacts) run_handed();
    if (core.done() || (deadline_ns != no_deadline && now_ns() >= deadline_ns)) return;
    // Whoever collects may need this core to go on.
    if (spin.spin([&] { return ready() || (collected && news()); })) continue;
    sleep_for_news(ready, deadline_ns);
  }
}

void device_core::wake_waiters() noexcept {
  protocol::progress_page& page = channel_.page();
  page.epoch.fetch_add(1, std::memory_order_seq_cst);
  if (channel_.application().sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(page.epoch, futex_scope::shared);
}

void device_core::answered(pending_core&) noexcept { wake_waiters(); }

void device_core::wake_reactor() noexcept {
  protocol::progress_page& page = channel_.page();
  if (reactor_asleep_.load(std::memory_order_seq_cst) == 0) return;
  page.idle_epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(page.idle_epoch, futex_scope::shared);
}

void device_core::interest_added(pending_core&) noexcept {
  interest_.fetch_add(1, std::memory_order_seq_cst);
  wake_reactor();
}

void device_core::interest_met(pending_core&) noexcept { interest_.fetch_sub(1, std::memory_order_seq_cst); }

// The reactor: it posts all continuations. While somebody waits without a thread, it waits like everybody else;
// otherwise it sleeps until the worker goes idle with work that nobody has retired. It stays with the first way for a
// few wakes after the last interest, so that a chain of awaits does not move it to and fro.
void device_core::react() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-reactor");
  reacting_ = this;
  protocol::progress_page& page = channel_.page();
  std::atomic<std::uint32_t>& idle_sleepers = channel_.application().idle_sleepers;
  adaptive_wait spin(options_.wait, cores_);
  const auto needed = [this] {
    return interest_.load(std::memory_order_seq_cst) > 0 || has_transfers_.load(std::memory_order_seq_cst) ||
           has_handed_.load(std::memory_order_seq_cst) || closing_.load(std::memory_order_seq_cst);
  };
  const auto ends = [this] { return reactor_ends_.load(std::memory_order_seq_cst); };
  int attached = 0;
  while (!ends()) {
    if (needed()) attached = 8;
    if (attached > 0) {
      --attached;
      const bool collected = drive();
      run_handed();
      const auto more = [&] { return (collected && news()) || has_handed_.load(std::memory_order_relaxed); };
      if (needed() && spin.spin(more)) continue;
      sleep_for_news([&] { return ends() || has_handed_.load(std::memory_order_seq_cst); }, no_deadline,
                     needed() ? 1'000'000'000 : longest_idle_ns);
      continue;
    }
    idle_sleepers.fetch_add(1, std::memory_order_seq_cst);
    reactor_asleep_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = page.idle_epoch.load(std::memory_order_seq_cst);
    drive();
    if (!needed() && !ends()) futex_wait(page.idle_epoch, before, futex_scope::shared, now_ns() + longest_idle_ns);
    idle_sleepers.fetch_sub(1, std::memory_order_seq_cst);
    // Not again for a millisecond, for the worker's sake: where both share a core it goes idle before the caller it
    // answered could say that it waits, and would wake us each time for nothing. Those in this process who need us
    // still can.
    const std::uint32_t pause = page.idle_epoch.load(std::memory_order_seq_cst);
    if (!needed() && !ends()) futex_wait(page.idle_epoch, pause, futex_scope::shared, now_ns() + 1'000'000);
    reactor_asleep_.fetch_sub(1, std::memory_order_seq_cst);
  }
  // What still comes is posted by whoever brings it.
  for (bool gone = false; !gone;) {
    drive();
    run_handed();
    const std::scoped_lock guard(handed_lock_);
    gone = reactor_gone_ = handed_ == nullptr;
  }
}

void device_core::add_transfer(std::shared_ptr<transfer> t) {
  {
    const std::scoped_lock guard(transfer_lock_);
    transfers_.push_back(std::move(t));
    has_transfers_.store(true, std::memory_order_seq_cst);
  }
  wake_reactor();
}

// True when one has come to its end.
bool device_core::pump_transfers() noexcept {
  bool some = false;
  std::vector<std::shared_ptr<transfer>> now;
  {
    const std::scoped_lock guard(transfer_lock_);
    now = transfers_;
  }
  for (const auto& t : now) {
    const transfer::progress how = t->advance();
    if (how == transfer::progress::impossible) violated("a download's counter");
    if (how != transfer::progress::over) continue;
    t->tell();
    download_ends(t->ticket);
    const std::scoped_lock guard(transfer_lock_);
    std::erase(transfers_, t);
    has_transfers_.store(!transfers_.empty(), std::memory_order_seq_cst);
    some = true;
  }
  return some;
}

void device_core::download_begins(std::uint64_t ticket) {
  const std::scoped_lock guard(downloads_lock_);
  downloads_.push_back(ticket);
  downloads_count_.store(downloads_.size(), std::memory_order_seq_cst);
}

void device_core::download_ends(std::uint64_t ticket) noexcept {
  std::vector<after_downloads> done;
  {
    const std::scoped_lock guard(downloads_lock_);
    const auto found = std::find(downloads_.begin(), downloads_.end(), ticket);
    if (found == downloads_.end()) return;  // it was refused
    *found = downloads_.back();
    downloads_.pop_back();
    downloads_count_.store(downloads_.size(), std::memory_order_seq_cst);
    const auto rest = std::partition(after_downloads_.begin(), after_downloads_.end(),
                                     [this](const after_downloads& a) { return downloads_before(a.ticket); });
    std::move(rest, after_downloads_.end(), std::back_inserter(done));
    after_downloads_.erase(rest, after_downloads_.end());
  }
  for (const after_downloads& a : done) a.answer->complete(a.with);
}

// With downloads_lock_ held.
bool device_core::downloads_before(std::uint64_t ticket) const noexcept {
  return std::any_of(downloads_.begin(), downloads_.end(), [ticket](std::uint64_t d) { return d < ticket; });
}

void device_core::answer_after_downloads(std::uint64_t ticket, const result<void>& with,
                                         ref<pending_state<void>> answer) {
  {
    const std::scoped_lock guard(downloads_lock_);
    if (downloads_before(ticket)) return void(after_downloads_.push_back({ticket, with, std::move(answer)}));
  }
  answer->complete(with);
}

void device_core::violated(const char* what) noexcept {
  if (violated_.exchange(true)) return;
  auto self = shared_from_this();
  post(*loop_, [self, what, id = serving_.load()] {
    self->feed({device_supervisor::event_kind::misbehaved, id,
                error(reaction::context_lost, "device",
                      std::string("the worker wrote something impossible (") + what + "); it was ended")});
  });
}

}  // namespace troupe
