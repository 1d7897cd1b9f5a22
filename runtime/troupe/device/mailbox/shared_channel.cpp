// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <time.h>

#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/keep_from_children.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>

namespace troupe {

result<void> shared_channel::create(std::uint32_t capacity) {
  const auto at = protocol::layout::for_capacity(capacity);
  // A channel that no worker shares. That of the first worker replaces it.
  auto channel = TROUPE_TRY(memory_file::create("troupe-channel", at.total));
  channel_memory_ = TROUPE_TRY(mapping::map(channel, map_access::read_write));
  shown_ = std::make_shared<const memory_file>(std::move(channel));
  // Only this process can write the mailbox, so no worker can change requests that were sent.
  auto mailbox = TROUPE_TRY(memory_file::create_for_readers("troupe-mailbox", at.mailbox_total));
  auto written = TROUPE_TRY(mapping::map(mailbox, map_access::read_write));
  TROUPE_TRY(mailbox.end_writing());
  workers_file_ = TROUPE_TRY(memory_file::create("troupe-workers", protocol::workers_page::bytes));
  workers_memory_ = TROUPE_TRY(mapping::map(workers_file_, map_access::read_write));
  mailbox_memory_ = std::move(written);
  mailbox_file_ = std::move(mailbox);
  for (const mapping* m : {&channel_memory_, &mailbox_memory_, &workers_memory_})
    keep_from_children(m->data(), m->size());
  view_ = {at, channel_memory_.data(), mailbox_memory_.data()};
  commands_.emplace(view_.queue(), view_.pump());
  TROUPE_TRY(view_.format());
  return {};
}

void shared_channel::ask_workers() const noexcept {
  auto& page = *reinterpret_cast<protocol::workers_page*>(workers_memory_.data());
  page.questions.fetch_add(1);
  futex_wake(page.questions, futex_scope::shared);
}

std::uint64_t shared_channel::await_published() const noexcept {
  constexpr int yields = 100;
  const std::uint64_t newest = newest_ticket();
  for (int i = 0; commands_ && !commands_->all_published(newest); ++i) {
    // A yield does not let a sender with a lower priority run; a sleep does.
    const timespec nap{.tv_sec = 0, .tv_nsec = 50'000};
    if (i < yields)
      ::sched_yield();
    else
      ::nanosleep(&nap, nullptr);
  }
  return newest;
}

result<void> shared_channel::prepare(const memory_file& channel) const {
  auto seen = TROUPE_TRY(mapping::map(channel, map_access::read_write));
  const protocol::view fresh{view_.at, seen.data(), nullptr};
  TROUPE_TRY(fresh.format());
  return {};
}

result<void> shared_channel::show(std::shared_ptr<const memory_file> channel) {
  auto old = TROUPE_TRY(mapping::map(*shown_, map_access::read_write));
  protocol::progress_page& page = view_.page();
  // The new values are far from any value that a thread has read on the old page and is about to sleep on.
  constexpr std::uint32_t leap = 1 << 16;
  const std::uint32_t epoch = page.epoch.load() + leap, idle_epoch = page.idle_epoch.load() + leap;
  TROUPE_TRY(channel_memory_.show(*channel));
  keep_from_children(channel_memory_.data(), channel_memory_.size());
  page.epoch.store(epoch);
  page.idle_epoch.store(idle_epoch);
  shown_ = std::move(channel);
  // Wakes the threads that sleep on the old page, because nothing else would.
  const protocol::view left{view_.at, old.data(), nullptr};
  for (std::atomic<std::uint32_t>* word : {&left.page().epoch, &left.page().idle_epoch}) {
    word->fetch_add(1);
    futex_wake(*word, futex_scope::shared);
  }
  return {};
}

void shared_channel::wake_waiters() const noexcept {
  if (home_.left()) return;
  protocol::progress_page& page = view_.page();
  page.epoch.fetch_add(1, std::memory_order_seq_cst);
  if (view_.application().sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(page.epoch, futex_scope::shared);
}

void shared_channel::wake_reactor() const noexcept {
  if (home_.left()) return;
  protocol::progress_page& page = view_.page();
  page.idle_epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(page.idle_epoch, futex_scope::shared);
}

bool shared_channel::shares_core() const noexcept {
  const std::uint32_t here = current_core();
  const bool shared = here != 0 && view_.page().pump_core.load(std::memory_order_relaxed) == here;
  protocol::note_core(view_.application().shared_core, shared ? here : 0);
  return shared;
}

}  // namespace troupe
