// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <troupe/worker/internal/reporter.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace troupe {
namespace {

// Builds a record in a buffer of its own; texts that do not fit are cut, never dropped without a trace.
class record_builder {
 public:
  explicit record_builder(std::span<std::byte> room) noexcept : room_(room) {}

  void text(std::string_view t) noexcept {
    const std::size_t left = room_.size() - used_;
    if (left < 2) return;
    const auto n = static_cast<std::uint16_t>(std::min({t.size(), left - 2, std::size_t{1024}}));
    put(&n, sizeof n);
    put(t.data(), n);
  }
  void put(const void* p, std::size_t n) noexcept {
    if (used_ + n > room_.size()) return;
    std::memcpy(room_.data() + used_, p, n);
    used_ += n;
  }
  std::size_t left() const noexcept { return room_.size() - used_; }
  std::size_t used() const noexcept { return used_; }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0;
};

}  // namespace

std::uint64_t reporter::report(const operation& op, const failure& why) {
  std::array<std::byte, protocol::max_report_bytes> room;
  const std::scoped_lock guard(lock_);
  record_builder record(room);
  protocol::report_header head{.number = ++last_,
                               .ticket = op.ticket,
                               .cause_ticket = why.first.ticket,
                               .code = why.code,
                               .slot = op.slot,
                               .reaction = static_cast<std::uint8_t>(why.reaction),
                               .chain = 0,
                               .reserved = 0};
  record.put(&head, sizeof head);
  record.text(why.domain);
  record.text(why.text);
  record.text(why.first.name);
  for (const request_id& step : why.chain) {
    if (head.chain == max_chain || record.left() < 10 + step.name.size()) break;
    record.put(&step.ticket, sizeof step.ticket);
    record.text(step.name);
    ++head.chain;
  }
  std::memcpy(room.data(), &head, sizeof head);
  ring_claim c = ring_.claim(record.used());
  while (c.status == claim_status::full) {
    // The application reads reports whenever it looks at all; see to it that somebody does.
    wake_reactor();
    announce();
    const timespec pause{.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&pause, nullptr);
    c = ring_.claim(record.used());
  }
  // Something here has written over the ring. Without a report the request would be taken for a success.
  if (!c) std::abort();
  std::memcpy(c.data, room.data(), record.used());
  ring_.publish(c);
  return head.number;
}

void reporter::announce() noexcept {
  protocol::progress_page& page = channel_.page();
  if (channel_.application().sleepers.load(std::memory_order_seq_cst) == 0) {
    if (!unannounced_.load(std::memory_order_seq_cst)) unannounced_.store(true, std::memory_order_relaxed);
    return;
  }
  page.epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(page.epoch, futex_scope::shared);
}

void reporter::announce_idle() noexcept {
  // Several lanes and the pump may be here at once. Who found the flag set in `announce` had counted its operation
  // before, so whoever takes the flag down sees it counted.
  if (!unannounced_.load(std::memory_order_relaxed) || !unannounced_.exchange(false)) return;
  protocol::progress_page& page = channel_.page();
  std::uint64_t done = 0;
  for (const protocol::lane_counters& lane : page.lanes) done += lane.done.load(std::memory_order_seq_cst);
  if (channel_.application().retired.load(std::memory_order_relaxed) != done) wake_reactor();
}

void reporter::wake_reactor() noexcept {
  protocol::progress_page& page = channel_.page();
  page.idle_epoch.fetch_add(1, std::memory_order_seq_cst);
  if (channel_.application().idle_sleepers.load(std::memory_order_seq_cst) != 0)
    futex_wake(page.idle_epoch, futex_scope::shared);
}

}  // namespace troupe
