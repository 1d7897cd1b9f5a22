// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/recovery/running_requests.hpp>
#include <troupe/device/recovery/watchdog.hpp>
#include <troupe/device/sharing/peer_channel.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {
namespace {

// A request's running time is known up to this part of what it may be.
constexpr std::int64_t looks_in_a_limit = 20, shortest_look_ns = 1'000'000, longest_look_ns = 1'000'000'000;
constexpr std::int64_t looks_in_a_heartbeat = 4;

std::string milliseconds(std::int64_t ns) { return cat(ns / 1'000'000, " ms"); }

}  // namespace

watchdog::watchdog(const device_options& options, const device_loop& loop, shared_channel& channel, ledger& requests,
                   completion& answers, serving_worker& worker, worker_pool& workers, supervision& supervisor,
                   bool streams) noexcept
    : options_(options),
      loop_(loop),
      channel_(channel),
      requests_(requests),
      completion_(answers),
      worker_(worker),
      workers_(workers),
      supervisor_(supervisor),
      streams_(streams),
      look_at_running_(loop, *this, timer::running) {}

void watchdog::on_time(std::uint64_t tag) {
  switch (static_cast<timer>(tag)) {
    case timer::running:
      return look_at_running();
    case timer::heartbeat:
      return check_heartbeat();
  }
}

void watchdog::watch_running(std::int64_t limit_ns) {
  look_at_running_.set(loop_.now() + std::clamp(limit_ns / looks_in_a_limit, shortest_look_ns, longest_look_ns));
}

void watchdog::look_at_running() {
  look_at_running_.fired();
  completion_.drive_surely();  // what has finished does not run
  const std::int64_t now = loop_.now();
  std::int64_t again = no_deadline;
  std::optional<error> overrun;
  {
    const completion::lock guard(completion_);
    const running_requests running(channel_.view(), requests_, completion_.retired(), streams_);
    for (std::uint32_t slot = 0; slot < requests_.capacity() && !overrun; ++slot)
      if (runs_too_long(slot, now, running, again)) overrun = overrun_error(slot);
  }
  if (overrun) {
    const fault_kind how = worker_.overrun() ? fault_kind::overran : fault_kind::silent;
    supervisor_.decide({device_supervisor::event_kind::misbehaved, worker_.id(), std::move(*overrun), how});
    again = std::min(again, now + longest_look_ns);
  }
  if (again != no_deadline) look_at_running_.set(again);
}

// With the drive lock. One that has begun is to blame. If it has not, for whatever reason, the next worker runs it.
error watchdog::overrun_error(std::uint32_t slot) {
  const ledger_entry& e = requests_[slot];  // what is in it is another request's as soon as this one is answered
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  const std::string limit = milliseconds(e.run_limit_ns.load(std::memory_order_relaxed));
  worker_.note_overrun(e.running_began ? std::optional(ticket) : std::nullopt);
  return error(error::details{
      .reaction = reaction::context_lost,
      .domain = "device",
      .text = e.running_began
                  ? "a request still ran after its run_timeout of " + limit + "; its worker was ended"
                  : "the worker did not begin a request that waited for no other one, within its run_timeout of " +
                        limit + " and device_options::start_timeout; it was ended",
      .request = {std::string(e.info->label), ticket}});
}

// With the drive lock. When to look again goes into `again`.
//
// A worker may have damaged the words that say what has begun. So the oldest request is timed in any case, since
// nothing is left that it could wait for. Before it begins, an engine may have to be loaded and memory mapped.
bool watchdog::runs_too_long(std::uint32_t slot, std::int64_t now, const running_requests& running,
                             std::int64_t& again) {
  ledger_entry& e = requests_[slot];
  if (!e.in_flight.load(std::memory_order_seq_cst) || e.answered) return false;
  const std::int64_t limit = e.run_limit_ns.load(std::memory_order_relaxed);
  if (limit == no_deadline) return false;
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  const std::int64_t soon = now + std::clamp(limit / looks_in_a_limit, shortest_look_ns, longest_look_ns);
  const bool served = !worker_.over() && workers_.find(worker_.id()) != nullptr;
  const bool began = has_started(channel_, worker_, slot, ticket);
  // A request that is run again after a fault begins anew.
  const bool seen = e.running_ticket == ticket && e.running_in == worker_.id();
  if (served && ((seen && e.running_began && !began) ||
                 is_impossible(requests_, channel_->slot(slot).load(std::memory_order_acquire), slot, ticket))) {
    completion_.violated("the state of a request");
    again = std::min(again, soon);
    return false;
  }
  const bool runs = began ? running.runs(slot, ticket) : served && ticket == running.oldest();
  // One that waits for another device does not run.
  if (!runs || (e.peer && !e.peer->is_turn_of(e.is_source))) {
    again = std::min(again, soon);
    e.running_ticket = 0;
    return false;
  }
  if (!seen || began != e.running_began) {
    e.running_ticket = ticket;
    e.running_in = worker_.id();
    e.running_ns = now;
    e.running_began = began;
  }
  const std::int64_t end = e.running_ns + limit, last = began ? end : options_.start_timeout.after(end);
  if (now >= last) return true;
  again = std::min({again, last, began ? last : soon});
  return false;
}

void watchdog::watch_heartbeat() {
  if (heartbeat_watched_.exchange(true, std::memory_order_seq_cst)) return;
  const bool never = options_.heartbeat_timeout.unlimited() || options_.isolation == isolation::thread;
  if (never) return;  // and the flag stays
  loop_.at(loop_.now() + options_.heartbeat_timeout.nanoseconds / looks_in_a_heartbeat, *this, timer::heartbeat);
}

// The listener of a worker answers whatever its lanes do: one that does not has been stopped, or has no processor.
void watchdog::check_heartbeat() {
  workers_.receive_all();
  const std::int64_t now = loop_.now(), timeout = options_.heartbeat_timeout.nanoseconds;
  if (requests_.in_flight() == 0) {
    worker_.note_sign_of_life();
    heartbeat_watched_.store(false, std::memory_order_seq_cst);
    if (requests_.in_flight() != 0) watch_heartbeat();
    return;
  }
  if (worker_link* link = workers_.find(worker_.id()); link != nullptr && !worker_.over()) {
    // Should the word that the pump sleeps on have been overwritten, no sender wakes it.
    channel_->pump().wake();
    const std::int64_t asked = worker_.asked_at(now);
    if (now - asked < timeout) {
      link->send_ping();  // each time: one for which there was no room has not come
    } else {
      supervisor_.decide({device_supervisor::event_kind::misbehaved, link->id(),
                          error(reaction::context_lost, "device",
                                "the worker of " + options_.name + " gave no sign of life for " +
                                    milliseconds(now - asked) + " (device_options::heartbeat_timeout); it was ended"),
                          fault_kind::silent});
    }
  }
  loop_.at(now + timeout / looks_in_a_heartbeat, *this, timer::heartbeat);
}

}  // namespace troupe
