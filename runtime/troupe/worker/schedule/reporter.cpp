// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <troupe/protocol/report.hpp>
#include <troupe/worker/schedule/reporter.hpp>

#include <array>
#include <cstdlib>
#include <cstring>

namespace troupe {
std::uint64_t reporter::report(const operation& op, const failure& why) {
  std::array<std::byte, protocol::max_report_bytes> room;
  const std::scoped_lock guard(lock_);
  const protocol::report_header head{.number = ++last_,
                                     .ticket = op.ticket,
                                     .cause_ticket = why.first.ticket,
                                     .code = why.code,
                                     .slot = op.slot,
                                     .reaction = static_cast<std::uint8_t>(why.reaction)};
  const std::size_t bytes = protocol::write_report(room, head, why.domain, why.text, why.first.name, why.chain);
  ring_claim c = ring_.claim(bytes);
  constexpr int most_naps = 20'000;  // a second or two of this thread's own time
  for (int naps = 0; c.status == claim_status::full && (naps < most_naps || !owns_process_); ++naps) {
    // The application reads reports whenever one of its threads drives, so wake one.
    wake_reactor();
    announce();
    const timespec pause{.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&pause, nullptr);
    c = ring_.claim(bytes);
  }
  // The ring's memory was overwritten, or the application no longer reads. Without a report the request would count as
  // a success.
  if (!c) std::abort();
  std::memcpy(c.data, room.data(), bytes);
  ring_.publish(c);
  channel_.page().reports.store(++published_, std::memory_order_release);
  return head.number;
}

void reporter::announce() noexcept {
  announce_if(channel_.application().sleepers.load(std::memory_order_seq_cst) != 0);
}

void reporter::announce(std::uint32_t slot, std::uint64_t ticket) noexcept {
  const protocol::application_page& application = channel_.application();
  announce_if(application.sleepers.load(std::memory_order_seq_cst) != 0 &&
              (application.curious.load(std::memory_order_seq_cst) != 0 ||
               channel_.wanted(slot).load(std::memory_order_seq_cst) == ticket));
}

void reporter::announce_if(bool matters) noexcept {
  if (!matters) {
    if (!unannounced_.load(std::memory_order_seq_cst)) unannounced_.store(true, std::memory_order_release);
    return;
  }
  protocol::progress_page& page = channel_.page();
  page.epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(page.epoch, futex_scope::shared);
}

void reporter::announce_idle() noexcept {
  // Several lanes and the pump may be here at once. A thread that found the flag set in `announce_if` had counted its
  // operation before, so the thread that clears the flag finds that operation counted.
  if (!unannounced_.load(std::memory_order_relaxed) || !unannounced_.exchange(false)) return;
  protocol::progress_page& page = channel_.page();
  std::uint64_t done = 0;
  for (const protocol::lane_counters& lane : page.lanes) done += lane.done.load();
  if (channel_.application().retired.load(std::memory_order_relaxed) != done) wake_reactor();
}

void reporter::wake_reactor() noexcept {
  protocol::progress_page& page = channel_.page();
  page.idle_epoch.fetch_add(1, std::memory_order_seq_cst);
  if (channel_.application().idle_sleepers.load(std::memory_order_seq_cst) != 0)
    futex_wake(page.idle_epoch, futex_scope::shared);
}

}  // namespace troupe
