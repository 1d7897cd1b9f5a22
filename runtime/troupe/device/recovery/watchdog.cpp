// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/recovery/running_requests.hpp>
#include <troupe/device/recovery/watchdog.hpp>
#include <troupe/device/sharing/peer_channel.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {
namespace {

// The resolution of a request's running time: its limit divided by checks_per_limit.
constexpr std::int64_t checks_per_limit = 20, shortest_interval_ns = 1'000'000, longest_interval_ns = 1'000'000'000;
constexpr std::int64_t checks_per_heartbeat = 4;
// If a check comes later than this, the program was frozen or got no processor time. A shorter delay does not count,
// because otherwise a worker that keeps this thread busy could exceed its limit.
constexpr std::int64_t shortest_freeze_ns = 100'000'000;
// From this fraction of its limit on (1 / 4), a request counts as long-running, and the watchdog finds out whether the
// GPU stands still.
constexpr std::int64_t long_parts_of_limit = 4;
constexpr std::int64_t between_questions_ns = standstill::prompt_ns / 4;

// Returns the time for which this program did not run before a check.
std::int64_t frozen_ns(std::int64_t now, std::int64_t due) noexcept {
  return now - due > shortest_freeze_ns ? now - due : 0;
}

std::string milliseconds(std::int64_t ns) { return cat(ns / 1'000'000, " ms"); }

}  // namespace

watchdog::watchdog(device_board& board, completion& completion, worker_pool& workers, supervision& supervisor) noexcept
    : board_(board),
      completion_(completion),
      workers_(workers),
      supervisor_(supervisor),
      running_timer_(board.loop, *this, timer::running),
      heartbeat_timer_(board.loop, *this, timer::heartbeat) {}

void watchdog::on_time(std::uint64_t tag) {
  switch (static_cast<timer>(tag)) {
    case timer::running:
      return check_running();
    case timer::heartbeat:
      return check_heartbeat();
  }
}

void watchdog::watch_running(std::int64_t limit_ns) {
  running_timer_.set(board_.loop.now() +
                     std::clamp(limit_ns / checks_per_limit, shortest_interval_ns, longest_interval_ns));
}

void watchdog::check_running() {
  const std::int64_t due = running_timer_.fired();
  completion_.drive_blocking();  // a finished request must not count as running
  const std::int64_t now = board_.loop.now(), frozen = frozen_ns(now, due);
  std::int64_t again = no_deadline;
  std::optional<error> overrun;
  {
    const completion::lock guard(completion_);
    const running_requests running(board_.channel.view(), board_.requests, completion_.retired(), board_.gpu);
    std::optional<std::uint32_t> overdue;
    bool any_long = false;
    for (std::uint32_t slot = 0; slot < board_.requests.capacity(); ++slot) {
      const pace how = pace_of(slot, now, frozen, running, again);
      any_long |= how == pace::long_running;
      if (how == pace::overdue && !overdue) overdue = slot;
    }
    if (!overdue && !any_long) {
      standstill_.forget();
    } else if (!may_be_the_gpu(overdue, now) && overdue) {
      overrun = overrun_error(*overdue);
      blame(*overdue);
    } else if (overdue) {
      again = std::min(again, now + standstill::poll_interval_ns);
    }
  }
  if (overrun) {
    const fault_kind how = board_.worker.overrun() ? fault_kind::overran : fault_kind::silent;
    supervisor_.report_now({device_supervisor::event_kind::misbehaved, board_.worker.id(), std::move(*overrun), how});
    again = std::min(again, now + longest_interval_ns);
  }
  if (again != no_deadline) running_timer_.set(again);
}

// Only a GPU can stand still because of other programs.
bool watchdog::asks_standbys() const noexcept { return board_.gpu && board_.options.isolation == isolation::process; }

// Returns false if the overdue request itself takes so long: the GPU works, or no standby can tell, or the request has
// been given the maximum of additional time. The caller holds the drive lock.
bool watchdog::may_be_the_gpu(std::optional<std::uint32_t> overdue, std::int64_t now) {
  if (!asks_standbys()) return false;
  if (standstill_.ask(board_.channel.workers(), now)) board_.channel.ask_workers();
  answer_ = standstill_.look(board_.channel.workers(), now, workers_.is_standby_starting());
  if (answer_ == standstill::answer::awaited) return true;
  if (answer_ != standstill::answer::stood_still) return false;
  const std::int64_t before = overdue ? board_.requests[*overdue].running_ns : 0;
  for (std::uint32_t slot = 0; slot < board_.requests.capacity(); ++slot) give_time(board_.requests[slot], now);
  return overdue && board_.requests[*overdue].running_ns != before;
}

// Gives the request the time for which the GPU stood still and no request ran. The caller holds the drive lock.
void watchdog::give_time(ledger_entry& e, std::int64_t now) const noexcept {
  const std::int64_t most = protocol::workers_page::longest_wait_ns - e.stood_ns;
  const std::int64_t given = std::min({standstill_.took_ns(), most, now - e.running_ns});
  e.running_ns += given;
  e.stood_ns += given;
}

// Blames the request, unless it has not begun: then the next worker runs it. The caller holds the drive lock.
void watchdog::blame(std::uint32_t slot) {
  const ledger_entry& e = board_.requests[slot];
  board_.worker.note_overrun(e.running_began && !e.answered ? std::optional(e.ticket.load(std::memory_order_relaxed))
                                                            : std::nullopt);
}

// The caller holds the drive lock.
error watchdog::overrun_error(std::uint32_t slot) const {
  // The reference is valid only while the lock is held: afterward another request may use the slot.
  const ledger_entry& e = board_.requests[slot];
  const std::string limit = milliseconds(e.run_limit_ns.load(std::memory_order_relaxed));
  return error(error::details{
      .reaction = reaction::context_lost,
      .domain = "device",
      .text = e.answered ? "the worker reported that a request failed, and did not count it as done within its "
                           "run_timeout of " +
                               limit + "; the worker was ended"
              : e.running_began
                  ? "a request still ran after its run_timeout of " + limit + "; its worker was ended" + gpu_meanwhile()
                  : "the worker did not begin a request that waited for no other one, within its run_timeout of " +
                        limit + " and device_options::start_timeout; it was ended",
      .request = id_of(board_.channel, e, slot)});
}

std::string watchdog::gpu_meanwhile() const {
  if (!asks_standbys()) return "";
  const std::string took = milliseconds(standstill_.took_ns());
  switch (answer_) {
    case standstill::answer::works:
      return "; meanwhile the GPU completed work of a standby within " + took;
    case standstill::answer::stood_still:
      return "; meanwhile the GPU did no work for " + took + ", for which the request was given more time";
    case standstill::answer::awaited:
    case standstill::answer::unknown:
      break;
  }
  return "; no standby showed within " + took + " whether the GPU works";
}

// Lowers `again` to the time of the next check. The caller holds the drive lock.
//
// A worker may have damaged the words that say which requests have begun. So the oldest request is always timed,
// because it has nothing left to wait for. Until it begins, it is allowed start_timeout in addition, because an engine
// may have to be loaded and memory mapped first. A request that the worker has reported as failed is answered, but
// later ones wait until it is also counted as done, so its time continues. A request that was cancelled, or whose
// sender has stopped waiting, keeps its slot until the worker skips it; so it is timed, too, if it is the oldest.
//
// While this program was frozen, the worker may have been frozen too, as in a container that is paused. That time does
// not count.
watchdog::pace watchdog::pace_of(std::uint32_t slot, std::int64_t now, std::int64_t frozen,
                                 const running_requests& running, std::int64_t& again) {
  ledger_entry& e = board_.requests[slot];
  if (!e.in_flight.load(std::memory_order_seq_cst)) return pace::fine;
  const std::int64_t limit = e.run_limit_ns.load(std::memory_order_relaxed);
  if (limit == no_deadline) return pace::fine;
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  const bool is_oldest = ticket == running.oldest_open();
  if (e.answered && !e.reported && !is_oldest) return pace::fine;
  const std::int64_t soon = now + std::clamp(limit / checks_per_limit, shortest_interval_ns, longest_interval_ns);
  const bool served = !board_.worker.over() && workers_.find(board_.worker.id()) != nullptr;
  const bool began = (e.reported && !board_.worker.over()) || has_started(board_.channel, board_.worker, slot, ticket);
  // The time of a request that runs again after a fault starts from 0.
  const bool seen = e.running_ticket == ticket && e.running_in == board_.worker.id();
  if (served &&
      ((seen && e.running_began && !began) ||
       is_impossible_word(board_.requests, board_.channel->slot(slot).load(std::memory_order_acquire), slot, ticket))) {
    completion_.report_violation("the state of a request");
    again = std::min(again, soon);
    return pace::fine;
  }
  const bool runs = began ? running.runs(slot, ticket) : served && (is_oldest || ticket == running.oldest());
  if (!runs) {
    again = std::min(again, soon);
    e.running_ticket = 0;
    return pace::fine;
  }
  if (!seen || began != e.running_began) {
    e.running_ticket = ticket;
    e.running_in = board_.worker.id();
    e.running_ns = e.looked_ns = now;
    e.stood_ns = 0;
    e.running_began = began;
  }
  // While one half of a copy waits for the other device, its time does not count.
  const bool waits = e.peer && !e.peer->is_turn_of(e.is_source);
  e.running_ns += waits ? now - e.looked_ns : std::min(frozen, now - e.looked_ns);
  e.looked_ns = now;
  const std::int64_t end = e.running_ns + limit, last = began ? end : board_.options.start_timeout.after(end);
  if (now >= last) return pace::overdue;
  const std::int64_t long_from = e.running_ns + limit / long_parts_of_limit;
  again = std::min({again, last, soon});
  if (asks_standbys()) again = std::min(again, std::max(long_from, now + between_questions_ns));
  return now >= long_from ? pace::long_running : pace::fine;
}

void watchdog::watch_heartbeat() {
  if (heartbeat_watched_.exchange(true, std::memory_order_seq_cst)) return;
  const bool never = board_.options.heartbeat_timeout.unlimited() || board_.options.isolation == isolation::thread;
  if (never) return;  // the flag stays set, so this is not called again
  heartbeat_timer_.set(board_.loop.now() + board_.options.heartbeat_timeout.nanoseconds / checks_per_heartbeat);
}

// A worker's listener thread answers pings whatever its lanes do. If it does not, the worker was stopped, or gets no
// processor time.
void watchdog::check_heartbeat() {
  const std::int64_t due = heartbeat_timer_.fired();
  workers_.receive_all();
  const std::int64_t now = board_.loop.now(), timeout = board_.options.heartbeat_timeout.nanoseconds;
  board_.worker.give_time(frozen_ns(now, due));
  if (board_.requests.in_flight() == 0) {
    board_.worker.note_heartbeat();
    heartbeat_watched_.store(false, std::memory_order_seq_cst);
    if (board_.requests.in_flight() != 0) watch_heartbeat();
    return;
  }
  if (worker_link* link = workers_.find(board_.worker.id()); link != nullptr && !board_.worker.over()) {
    // If the word that the pump sleeps on was overwritten, senders do not wake the pump.
    board_.channel->pump().wake();
    const std::int64_t asked = board_.worker.ping_pending_since(now);
    if (now - asked < timeout) {
      link->send_ping();  // at every check, because a ping is dropped if there is no room for it
    } else {
      supervisor_.report_now(
          {device_supervisor::event_kind::misbehaved, link->id(),
           error(reaction::context_lost, "device",
                 "the worker of " + board_.options.name + " did not answer for " + milliseconds(now - asked) +
                     ", longer than device_options::heartbeat_timeout; it was killed"),
           fault_kind::silent});
    }
  }
  heartbeat_timer_.set(now + timeout / checks_per_heartbeat);
}

}  // namespace troupe
