// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/async/deferred_continuations.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/prefetch.hpp>
#include <troupe/device/internal/request_scope.hpp>
#include <troupe/device/internal/sleep_for_news.hpp>
#include <troupe/worker/internal/operation.hpp>
#include <tuple>

namespace troupe {
namespace {

// A zeroed cell for answers that carry an error.
const std::byte no_reply[max_reply_bytes]{};

// What many operands touch, with neighbours in the same block as one: the parts of a batch mostly lie side by side.
std::vector<block_access> joined(std::span<const operand_use> uses) {
  std::vector<block_access> all;
  if (uses.empty()) return all;
  all.reserve(uses.size());
  for (const operand_use& u : uses) all.push_back({u.touched, u.range->owner});
  std::sort(all.begin(), all.end(), [](const block_access& a, const block_access& b) {
    return std::tuple(a.where.get(), a.what.mode, a.what.begin) < std::tuple(b.where.get(), b.what.mode, b.what.begin);
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    block_access &into = all[last], &next = all[i];
    if (next.where.get() == into.where.get() && next.what.mode == into.what.mode && next.what.begin <= into.what.end)
      into.what.end = std::max(into.what.end, next.what.end);
    else if (++last != i)
      all[last] = std::move(next);
  }
  all.resize(last + 1);
  return all;
}

error too_many_ranges(std::size_t count) {
  return error(reaction::caller_bug, "device",
               cat("it touches ", count, " separate ranges of memory; expected at most ",
                   protocol::most_listed_accesses, ": split the request, or lay its operands side by side"));
}

const char* const sealed_meanwhile =
    "a buffer that it writes was sealed at the same moment; unseal() it first, or write to another";

error named(const error& why, const request_info& info) {
  if (!why.request().name.empty()) return why;
  error::details d = why.all();
  d.request.name = info.label;
  return error(std::move(d));
}

}  // namespace

error device_core::mailbox_full() const {
  return error(reaction::retry_later, "device",
               cat("the mailbox of ", options_.name, " is full (", ledger_.capacity(),
                   " requests without an answer); await earlier ones or device::room(), raise "
                   "device_options::mailbox_capacity, or leave when_full at wait"));
}

error device_core::why_no_slot(const request_scope* scope) const {
  if (refusing_.load()) return refusal();
  if (scope != nullptr)
    if (auto why = scope->refusal(loop_->now())) return *why;
  return mailbox_full();
}

submission device_core::refuse(const error& why, const checker& checked, pending_core* answer,
                               const request_info& info) {
  const error full = named(why, info);
  for (const block_access& a : joined(checked.uses())) {
    block* b = a.where.get();
    if (b != nullptr && a.what.mode != access_mode::read) b->owner->mark_refused(*b, a.what.begin, a.what.end, full);
  }
  if (answer != nullptr) info.answer(*answer, no_reply, &full);
  return submission(full);
}

// Whoever gives answers makes the room that others wait for, and must not wait for it.
std::uint32_t device_core::take_slot(const call_options& options, std::int64_t deadline_ns,
                                     const request_scope* scope) noexcept {
  std::uint32_t slot = ledger_.take();
  if (slot != ledger::none) [[likely]]
    return slot;
  const bool gives_answers = deferred_continuations::active();
  if (!gives_answers) drive();
  slot = ledger_.take();
  const bool may_wait = options_.when_full == when_full::wait && options.waits_for_room && !gives_answers;
  if (slot != ledger::none || !may_wait) return slot;
  room_waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (slot == ledger::none && !refusing_.load() && loop_->now() < deadline_ns &&
         (scope == nullptr || !scope->stopped())) {
    sleep_for_news([&] { return (slot = ledger_.take()) != ledger::none; }, deadline_ns);
    if (slot == ledger::none) slot = ledger_.take();
  }
  room_waiters_.fetch_sub(1, std::memory_order_relaxed);
  return slot;
}

// Without having been used.
void device_core::give_slot_back(std::uint32_t slot) noexcept {
  ledger_.give_back(slot);
  if (room_waiters_.load(std::memory_order_seq_cst) != 0) wake_waiters();
  if (!room_.empty()) drive();
}

// It will be refused, but has a place in the order already: as a request that touches nothing.
void device_core::let_go_of_outputs(ledger_entry& e, std::byte* record, const checker& checked,
                                    const request_info& info) {
  const error why = named(error(reaction::caller_bug, "request", sealed_meanwhile), info);
  for (const block_access& a : joined(checked.uses()))
    if (block* b = a.where.get(); b != nullptr && a.what.mode != access_mode::read)
      b->owner->mark_refused(*b, a.what.begin, a.what.end, why);
  e.release();
  e.access_count = 0;
  protocol::command_header head;
  std::memcpy(&head, record, sizeof head);
  head.access_count = 0;
  head.flags = {true, priority::normal};
  std::memcpy(record, &head, sizeof head);
}

submission device_core::submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                               request_link* link, const call_options& options,
                               const std::shared_ptr<request_scope>& scope, block_ref extra, const peer_half* half) {
  // Goes back unless it is used.
  struct slot_in_hand {
    device_core& core;
    std::uint32_t slot;
    ~slot_in_hand() {
      if (slot != ledger::none) [[unlikely]]
        core.give_slot_back(slot);
    }
  } given{*this, half != nullptr ? half->slot : ledger::none};
  // Before the check: what is marked stale up to here, the check sees; what fails later, the worker still holds against
  // this request.
  const std::uint64_t seen = reports_seen_.load(std::memory_order_acquire);
  const std::uint32_t seals = seals_begun_.load(std::memory_order_acquire);
  const std::uint32_t failures = failures_seen_.load(std::memory_order_relaxed);
  if (const auto& why = checked.finish()) [[unlikely]]
    return refuse(*why, checked, answer, info);
  if (refusing_.load(std::memory_order_acquire)) [[unlikely]]
    return refuse(refusal(), checked, answer, info);
  if (scope != nullptr) [[unlikely]]
    if (const auto why = scope->refusal(loop_->now())) return refuse(*why, checked, answer, info);

  const auto uses = checked.uses();
  std::vector<block_access> many;
  if (uses.size() > max_operands) [[unlikely]]
    many = joined(uses);
  if (many.size() > protocol::most_listed_accesses) [[unlikely]]
    return refuse(too_many_ranges(many.size()), checked, answer, info);
  const bool listed = many.size() > max_operands;

  const std::int64_t deadline =
      std::min(deadline_after(options.timeout), scope != nullptr ? scope->deadline_ns() : no_deadline);
  const std::int64_t run_limit = std::min(options.run_timeout.nanoseconds, options_.run_timeout.nanoseconds);
  const std::uint32_t slot =
      half != nullptr ? std::exchange(given.slot, ledger::none) : take_slot(options, deadline, scope.get());
  if (slot == ledger::none) [[unlikely]]
    return refuse(why_no_slot(scope.get()), checked, answer, info);
  ledger_entry& e = ledger_[slot];
  std::byte* const record = commands_->record(slot).data();
  // What comes later will most likely be like this one.
  const std::size_t count = listed ? 0 : many.empty() ? uses.size() : many.size();
  const std::size_t entry_bytes = e.bytes_up_to(count);
  const std::size_t record_bytes =
      sizeof(protocol::command_header) + count * sizeof(memory_access) + info.payload_bytes;
  will_write(&e, entry_bytes);
  will_write(record, record_bytes);
  if (const std::uint32_t later = ledger_.likely_later(); later != ledger::none) [[likely]] {
    will_write(&ledger_[later], entry_bytes);
    will_write(commands_->record(later).data(), record_bytes);
  }

  const std::size_t list_bytes = listed ? blob_cursor::padded(many.size() * sizeof(memory_access)) : 0;
  block_ref blob;
  blob_cursor cursor;
  memory_access list{};
  if (const std::size_t bytes = info.blob_bytes(request) + list_bytes; bytes != 0) [[unlikely]] {
    auto made = memory_->allocate(memory_kind::sent, bytes, 256, {});
    if (!made) {
      give_slot_back(slot);
      return refuse(made.error(), checked, answer, info);
    }
    blob = std::move(*made);
    cursor = {blob->host, blob->address};
    std::memset(blob->host, 0, bytes);  // for the same reason as in encode()
    if (listed) {
      list = {.begin = cursor.address, .end = many.size()};
      for (std::size_t i = 0; i < many.size(); ++i)
        std::memcpy(cursor.host + i * sizeof(memory_access), &many[i].what, sizeof(memory_access));
      cursor.advance(list_bytes);
    }
  }

  // References first: an atomic operation waits for all stores before it, and those to the record take longest.
  for (std::size_t i = 0; i < count; ++i) {
    block_access& a = e.few[i];
    if (many.empty()) [[likely]] {
      a.what = uses[i].touched;
      a.where = uses[i].range->owner;
    } else {
      a = std::move(many[i]);
    }
  }
  if (listed) [[unlikely]]
    e.many = std::move(many);
  if (blob) [[unlikely]]
    e.blob = std::move(blob);
  if (extra) [[unlikely]]
    e.extra = std::move(extra);
  if (half != nullptr) [[unlikely]]
    e.peer = half->copy, e.is_source = half->is_source;
  if (scope != nullptr) [[unlikely]]
    e.scope = scope;
  if (answer != nullptr) answer->add_ref();
  e.answered = false;
  e.info = &info;
  e.answer = answer;
  e.access_count = static_cast<std::uint8_t>(count);
  e.retries = options.retries;
  e.deadline_ns.store(deadline, std::memory_order_release);
  e.run_limit_ns.store(run_limit, std::memory_order_relaxed);
  const protocol::command_header head{
      .opcode = info.opcode,
      .library = info.library,
      .generation = static_cast<std::uint32_t>(checked.generation()),
      .reports_seen = seen,
      .segments = segments_sent_.load(std::memory_order_acquire),
      .access_count = listed ? protocol::listed_accesses : e.access_count,
      .flags = {!options.coalesce, options.priority, checked.uses_managed(), run_limit != no_deadline},
      .payload_bytes = static_cast<std::uint16_t>(info.payload_bytes)};
  std::byte* const accesses = record + sizeof head;
  std::memcpy(record, &head, sizeof head);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(accesses + i * sizeof(memory_access), &e.few[i].what, sizeof(memory_access));
  if (listed) [[unlikely]]
    std::memcpy(accesses, &list, sizeof list);
  info.encode(request, accesses + (listed ? 1 : count) * sizeof(memory_access), cursor);
  const bool watched = quarantine_.watches();
  std::uint64_t ticket = 0;
  if (watched) [[unlikely]] {
    if (const auto why = claim_watched(slot, ticket)) {
      e.release();
      e.answer = nullptr;
      if (answer != nullptr) answer->release();
      give_slot_back(slot);
      return refuse(*why, checked, answer, info);
    }
  } else {
    ticket = commands_->claim();
    e.ticket.store(ticket, std::memory_order_relaxed);
  }
  if (link != nullptr) link->slot = slot, link->ticket = ticket;
  // Somebody may have sealed what this writes after the check, and have the earlier ticket: then it must not run.
  const bool forbidden = seals_begun_.load(std::memory_order_seq_cst) != seals && checked.spare_sealed(ticket);
  if (forbidden) [[unlikely]]
    let_go_of_outputs(e, record, checked, info);
  e.in_flight.store(true, std::memory_order_seq_cst);
  if (forbidden) [[unlikely]] {
    const std::scoped_lock guard(cancel_lock_);
    channel_.slot(slot).store(protocol::slot_word(ticket, protocol::phase::cancelled));
    cancelled_.push_back({slot, ticket, sealed_meanwhile, reaction::caller_bug});
    has_cancelled_.store(true, std::memory_order_relaxed);
  }
  // Whoever stops the scope either finds it in flight, or is seen here.
  const bool stopped = scope != nullptr && scope->stopped();
  commands_->publish(ticket, slot);
  if (stopped) [[unlikely]]
    stop_requests_of(scope);
  if (commands_->wake_if_sleeping()) (void)shares_core();  // where whoever only sends is

  if (failures_seen_.load(std::memory_order_seq_cst) != failures) [[unlikely]]
    look_at_inputs_again(slot, ticket);
  if (!watched && quarantine_.watches()) [[unlikely]]
    lose_track(uses);

  // From here on the request may be answered and its slot reused at any moment: only locals and `checked` may be used.
  if (forbidden) [[unlikely]] {
    drive();
    return submission(ticket);
  }
  bool replaces_stale = false;
  for (const operand_use& u : uses)
    replaces_stale |=
        u.touched.mode == access_mode::write && u.range->owner->stale_marks.load(std::memory_order_seq_cst) != 0;
  if (replaces_stale) [[unlikely]] {
    for (const operand_use& u : uses)
      if (u.touched.mode == access_mode::write)
        memory_->mark_written(*u.range->owner.get(), u.touched.begin, u.touched.end, ticket);
  }
  if (deadline != no_deadline) [[unlikely]]
    watch_deadline(deadline);
  if (run_limit != no_deadline) [[unlikely]]
    watch_running(run_limit);
  if (!heartbeat_watched_.load(std::memory_order_relaxed)) [[unlikely]]
    watch_heartbeat();
  // The worker may have died between the look at the top and the publishing: then nobody else would answer.
  if (dead_.load(std::memory_order_seq_cst)) [[unlikely]]
    drive();
  return submission(ticket);
}

}  // namespace troupe
