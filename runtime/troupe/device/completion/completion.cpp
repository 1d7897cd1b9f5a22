// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <troupe/base/processor/prefetch.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/sharing/peer_channel.hpp>
#include <troupe/protocol/report.hpp>

namespace troupe {
namespace {

// The number of ledger entries ahead of the one being retired that are prefetched.
constexpr std::uint64_t prefetch_distance = 4;

using per_lane = std::array<std::uint64_t, max_lanes>;

// Reads the counters of the lanes. A damaged word reads as an impossible count. A word that has not changed is not
// checked again.
per_lane done_operations(const shared_channel& channel, const per_lane& known, const per_lane& known_words) noexcept {
  per_lane done;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    const std::uint64_t word = channel->page().lanes[i].done.word().load(std::memory_order_seq_cst);
    done[i] = word == known_words[i] ? known[i] : checked_count::count_of(word);
  }
  return done;
}

std::uint64_t sum(const per_lane& words) noexcept {
  return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
}

void prefetch_entry(ledger& requests, std::uint32_t slot) noexcept {
  constexpr std::size_t usual_accesses = 3;
  if (slot < requests.capacity()) will_write(&requests[slot], requests[slot].bytes_up_to(usual_accesses));
}

}  // namespace

completion::completion(device_board& board, worker_pool& workers, supervision& supervisor) noexcept
    : channel_(board.channel),
      requests_(board.requests),
      memory_(board.memory),
      cancelled_(board.cancelled),
      worker_(board.worker),
      downloads_(board.downloads),
      room_(board.room),
      to_reactor_(board.to_reactor),
      workers_(workers),
      supervisor_(supervisor) {}

bool completion::drive() noexcept {
  if (!channel_.exists()) return true;
  bool mine = true;
  const answering now(to_reactor_);
  for (bool again = true; again;) {
    // A thread that finds the drive lock taken sets drive_again_, and the holder checks it after unlocking, so answers
    // that arrive after the holder has looked are not missed. The second try covers a holder that unlocked before it
    // could see drive_again_.
    mine = drive_lock_.try_lock();
    if (!mine) {
      drive_again_.store(true, std::memory_order_seq_cst);
      mine = drive_lock_.try_lock();
    }
    if (mine) {
      drive_again_.exchange(false, std::memory_order_seq_cst);
      collect(now);
      drive_lock_.unlock();
    }
    again = mine && drive_again_.load(std::memory_order_seq_cst);
    // A closing device may wait only for the end of a transfer.
    if (downloads_.has_transfers(std::memory_order_relaxed)) {
      const download_tracker::progress moved = downloads_.advance();
      if (moved.impossible) report_violation("a download's counter");
      again |= moved.some_ended;
    }
  }
  return mine;
}

void completion::drive_blocking() noexcept {
  if (!channel_.exists()) return;
  lock(*this).collect();
  drive();  // advances the transfers
}

void completion::collect(const answering& now) {
  if (!worker_.violated()) {
    // Read the counters first, then the reports, then retire. A report is published before its operation's counter is
    // raised, and an operation completes after those it depends on. So for every operation that these counters show as
    // done, the reports read next include its failure and the failures of everything it depends on.
    const lane_counts done = done_operations(channel_, retired_, retired_words_);
    // Read after `done`, so it includes everything that the requests up to `done` depend on.
    const bool replies_may_fail = replies_may_fail_.load(std::memory_order_seq_cst);
    const lane_counts seen = replies_may_fail ? done_operations(channel_, retired_, retired_words_) : done;
    read_reports();
    if (cancelled_.any()) take_cancelled();
    answer_failures();
    if (replies_may_fail && !worker_.violated()) fail_by_replies(seen);
    if (!worker_.violated()) retire_lanes(done);
  } else if (cancelled_.any()) {
    take_cancelled();  // no worker serves, so nobody needs to wait for one to read the cancellation
    answer_failures();
  }
  if (dead_.load(std::memory_order_seq_cst)) answer_everything(UINT64_MAX);
  if (room_.has_answers()) [[unlikely]]
    room_.answer(now);
  if (closing_.load(std::memory_order_seq_cst)) check_drained();
}

void completion::take_answer(std::uint32_t slot, const error* why, due_answer& into) noexcept {
  ledger_entry& e = requests_[slot];
  e.answered = true;
  // Not an atomic addition, because only the holder of the drive lock writes the counts.
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (why != nullptr) failed_.store(failed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  recent_.add({e.ticket.load(std::memory_order_relaxed), e.info, why != nullptr});
  into.to = std::exchange(e.answer, nullptr);
  into.info = e.info;
  if (into.to != nullptr && why == nullptr)
    std::memcpy(into.reply.data(), channel_->cell(slot).bytes, into.reply.size());
}

void completion::due_answer::give(const error* why) noexcept {
  if (to == nullptr) return;
  info->answer(*to, reply.data(), why);
  to->release();
}

void completion::settle(std::uint32_t slot, const error* why, bool retires) noexcept {
  due_answer answer;
  take_answer(slot, why, answer);
  if (retires) retire(slot);
  answer.give(why);
}

// Called after the lanes' counters were read. A request counts as successful unless a report says otherwise, so every
// report that the worker counts must be there. The worker counts a report after publishing it, so there may be one
// more. At most one report of each request is accepted, which limits their number.
//
// Also marks what the failures make stale before it publishes the count, so that a thread that reads the count finds
// the marks.
void completion::read_reports() {
  const std::uint64_t before = reports_seen_.load(std::memory_order_relaxed), known = before - reports_of_others_,
                      counted = channel_->page().reports.load(std::memory_order_acquire);
  if (counted + 1 < known || counted > known + requests_.capacity()) return report_violation("the count of reports");
  std::uint64_t seen = before;
  while (!worker_.violated() && read_report(seen + 1)) ++seen;
  if (seen - reports_of_others_ < counted) report_violation("a count that includes a missing report");
  if (seen == before) return;
  answer_failures();
  reports_seen_.store(seen, std::memory_order_release);
}

// Reads the report with this number. Returns false if there is none.
bool completion::read_report(std::uint64_t number) {
  const auto impossible = [this](const char* what) {
    report_violation(what);
    return false;
  };
  std::array<std::byte, protocol::max_report_bytes> room;
  const ring_record record = reports_->read(room);
  if (record.status == read_status::none) return false;
  if (!record) return impossible("the report ring");
  auto report = protocol::parse_report(record.payload);
  if (!report) return impossible("a report");
  const auto& head = report->head;
  if (head.number != number || head.slot >= requests_.capacity()) return impossible("a report's number or slot");
  ledger_entry& e = requests_[head.slot];
  if (!e.in_flight.load(std::memory_order_acquire) || e.ticket != head.ticket)
    return impossible("a report for a request that is not in flight");
  if (std::exchange(e.reported, true)) return impossible("a second report for a request");
  // If the application cancelled the request, the application's text is its error, not the lane's.
  if (channel_->slot(head.slot).load(std::memory_order_acquire) ==
      protocol::slot_word(head.ticket, protocol::phase::cancelled))
    take_cancelled();
  complete_names(*report, head.slot);
  report->what.generation = memory_.generation();
  name_peer_cause(report->what, e);
  fail(head.slot, error(std::move(report->what)));
  return true;
}

// Completes the names in a report. The worker knows a request only by its type, and not even that if none of its
// engines serves it. The names of earlier requests in the report are known, because those have failed before.
void completion::complete_names(protocol::parsed_report& report, std::uint32_t slot) {
  request_id& cause = report.what.request;
  const request_id own = id_of(channel_, requests_[slot], slot);
  if (own.name != requests_[slot].info->label || cause.name.empty()) named_.add(own);
  const auto complete = [this](request_id& r) {
    if (const request_id* known = named_.find([&r](const request_id& n) { return n.ticket == r.ticket; }))
      r.name = known->name;
  };
  complete(cause);
  if (cause.name.empty()) cause.name = "an unknown request";
  std::for_each(report.what.chain.begin(), report.what.chain.end(), complete);
}

// Adds the cause of a failed copy. The worker does not know why the other device's half failed. Keeps the cause for
// later requests that fail because of that copy.
void completion::name_peer_cause(error::details& what, const ledger_entry& e) {
  constexpr std::size_t most_kept = 64;
  if (e.peer && !e.is_source)
    if (auto cause = e.peer->cause()) {
      if (peer_causes_.size() == most_kept) peer_causes_.erase(peer_causes_.begin());
      peer_causes_.emplace_back(what.request.ticket, std::move(*cause));
    }
  const auto known = std::find_if(peer_causes_.begin(), peer_causes_.end(),
                                  [&](const auto& c) { return c.first == what.request.ticket; });
  if (known == peer_causes_.end()) return;
  error::details d = known->second.all();
  d.chain.push_back(what.request);
  d.chain.insert(d.chain.end(), what.chain.begin(), what.chain.end());
  if (d.chain.size() > max_chain) d.chain.resize(max_chain);
  what = std::move(d);
}

// Retires requests that have succeeded or are answered already. Retires several before it answers the first of them, so
// that their slots are given back together, and a thread that has an answer finds the request's slot free.
class completion::retirement {
 public:
  explicit retirement(completion& of) noexcept : of_(of) {}
  ~retirement() { finish(); }
  retirement(const retirement&) = delete;
  void add(std::uint32_t slot) noexcept {
    if (!of_.requests_[slot].answered) {
      of_.take_answer(slot, nullptr, answers_[due_]);
      if (answers_[due_].to != nullptr) ++due_;
    }
    of_.vacate(slot);
    slots_.add(of_.requests_, slot);
    if (slots_.count() == answers_.size()) finish();
  }
  void finish() noexcept {
    of_.requests_.give_back(slots_);
    for (std::size_t i = 0; i < due_; ++i) answers_[i].give(nullptr);
    due_ = 0;
  }

 private:
  completion& of_;
  ledger::chain slots_;
  std::size_t due_ = 0;
  std::array<due_answer, 16> answers_;
};

void completion::retire_lanes(const lane_counts& done) {
  // Checks all counters first, and retires nothing if one is impossible: an operation that waited for an overwritten
  // counter may have started too early. A counter is impossible if it is ahead of its lane's log, because a thread
  // writes the log before it counts.
  for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
    if (done[lane] - retired_[lane] > requests_.capacity()) return report_violation("a lane's counter");
    if (done[lane] != retired_[lane] && !slot_in_log(requests_, channel_, lane, done[lane]))
      return report_violation("a lane's log");
  }
  retirement together(*this);
  std::uint64_t retired = 0;
  for (std::uint32_t lane = 0; lane < max_lanes; ++lane) {
    std::uint64_t& seen = retired_[lane];
    if (seen != done[lane]) retired_words_[lane] = checked_count::word_of(done[lane]);
    for (; seen != done[lane]; ++seen, ++retired) {
      if (done[lane] - seen > prefetch_distance) [[likely]]
        prefetch_entry(
            requests_,
            protocol::slot_of(channel_->log(lane, seen + 1 + prefetch_distance).load(std::memory_order_relaxed)));
      const std::optional<std::uint32_t> slot = slot_in_log(requests_, channel_, lane, seen + 1);
      if (!slot) return report_violation("a lane's log");
      together.add(*slot);
    }
  }
  together.finish();
  if (retired == 0) return;
  std::atomic<std::uint64_t>& total = channel_->application().retired;  // only this process writes the word
  total.store(total.load(std::memory_order_relaxed) + retired, std::memory_order_relaxed);
  retired_words_total_.store(sum(retired_words_), std::memory_order_relaxed);
  if (room_.has_blocked()) channel_.wake_waiters();
}

void completion::vacate(std::uint32_t slot) noexcept {
  ledger_entry& e = requests_[slot];
  e.release();
  e.in_flight.store(false, std::memory_order_seq_cst);
}

void completion::retire(std::uint32_t slot) noexcept {
  vacate(slot);
  requests_.give_back(slot);
}

void completion::report_violation(const char* what) noexcept {
  if (!worker_.violate()) return;
  supervisor_.report(
      {device_supervisor::event_kind::misbehaved, worker_.id(),
       error(reaction::context_lost, "device",
             std::string("the worker wrote an impossible value to shared memory (") + what + "); it was ended")});
}

result<void> completion::begin_reading() {
  auto reports = TROUPE_TRY(ring_region::open(channel_->reports()));
  reports_.emplace(reports);
  retired_.fill(0);
  retired_words_.fill(checked_count::word_of(0));
  retired_words_total_.store(sum(retired_words_), std::memory_order_relaxed);
  reports_of_others_ = reports_seen_.load(std::memory_order_relaxed);
  channel_->application().retired.store(0, std::memory_order_relaxed);
  return {};
}

void completion::end_all(const error& why) {
  {
    const lock guard(*this);
    death_ = why;
  }
  dead_.store(true, std::memory_order_seq_cst);
}

// A sender that has its ticket may not yet have checked whether the device is dead, and may find that it is not, so it
// is answered here. A sender that gets its ticket later is served by the next worker.
std::uint64_t completion::revive() {
  const lock guard(*this);
  dead_.store(false, std::memory_order_seq_cst);
  const std::uint64_t newest = channel_.await_published();
  answer_everything(newest);
  death_.reset();
  return newest;
}

bool completion::has_news() const noexcept {
  std::uint64_t words = 0;
  for (const protocol::lane_counters& lane : channel_->page().lanes)
    words += lane.done.word().load(std::memory_order_relaxed);
  if (worker_.violated()) return false;
  return words != retired_words_total_.load(std::memory_order_relaxed) ||
         (downloads_.has_transfers(std::memory_order_relaxed) && downloads_.has_data());
}

// Every answer has been completed, because the caller holds the drive lock.
void completion::check_drained() noexcept {
  if (requests_.in_flight() != 0 || downloads_.under_way() || std::exchange(drained_, true)) return;
  supervisor_.report({device_supervisor::event_kind::drained});
}

}  // namespace troupe
