// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/base/processor/prefetch.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/mailbox/deadline_texts.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/device/recovery/quarantine/quarantine_guard.hpp>
#include <troupe/device/recovery/watchdog.hpp>
#include <troupe/device/waiting/sleep_for_news.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <tuple>

namespace troupe {
namespace {

// The reply of answers that carry an error: zeros.
const std::byte no_reply[max_reply_bytes]{};

// Returns the accesses of a request with many operands. Joins adjacent ranges of a block, because the operands of a
// batch are mostly contiguous.
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
               cat("it touches ", count, " separate ranges of memory; expected at most ", protocol::access_list::most,
                   ": split the request, or place its operands next to each other"));
}

const char* const sealed_meanwhile =
    "a buffer that it writes was sealed while it was being sent; unseal() it first, or write to another buffer";

void mark_outputs_refused(const checker& checked, const error& why) {
  for (const block_access& a : joined(checked.uses()))
    if (block* b = a.where.get(); b != nullptr && a.what.mode != access_mode::read)
      b->owner->mark_refused(*b, a.what.begin, a.what.end, why);
}

// Adds name and label of a request that was not sent to its error, if the error names no request, or only the request's
// type.
[[gnu::cold]] error named(const error& why, const request_info& info, const void* request, const checker& checked,
                          std::string_view label) {
  // In a child, the names may be in memory that only its parent has.
  if (why.reaction() == reaction::stopped && process_home::is_child()) return why;
  error::details d = why.all();
  request_id& own = d.request.name.empty() || d.chain.empty() ? d.request : d.chain.back();
  if (own.ticket == 0 && (own.name.empty() || own.name == info.label))
    own.name = name_of_unsent(info, request, checked.uses(), label);
  return error(std::move(d));
}

}  // namespace

request_mailbox::request_mailbox(device_board& board, const shared_segments& segments, completion& completion,
                                 quarantine_guard& quarantine, start_deadlines& deadlines, watchdog& watchdog) noexcept
    : options_(board.options),
      loop_(board.loop),
      channel_(board.channel),
      requests_(board.requests),
      memory_(board.memory),
      segments_(segments),
      admission_(board.admission),
      room_(board.room),
      cancelled_(board.cancelled),
      completion_(completion),
      to_reactor_(board.to_reactor),
      quarantine_(quarantine),
      start_deadlines_(deadlines),
      watchdog_(watchdog) {}

std::int64_t request_mailbox::start_deadline_of(const call_options& options,
                                                const request_scope* scope) const noexcept {
  return std::min(loop_.deadline_after(options.timeout), scope != nullptr ? scope->deadline_ns() : no_deadline);
}

std::int64_t request_mailbox::run_limit_of(const request_info& info, const call_options& options,
                                           const request_scope* scope) const noexcept {
  if (info.has_own_time_limit) [[unlikely]]
    return options.run_timeout.nanoseconds;
  const std::int64_t limit = std::min(options.run_timeout.nanoseconds, options_.run_timeout.nanoseconds);
  return scope != nullptr ? std::min(limit, scope->run_limit_ns()) : limit;
}

// A thread that completes answers makes the room that others wait for, so it must not wait for room itself.
bool request_mailbox::waits_for_room(const call_options& options) const noexcept {
  return options_.when_full == when_full::wait && options.waits_for_room && !deferred_continuations::active();
}

error request_mailbox::why_no_slot(const call_options& options, std::int64_t start_deadline_ns,
                                   const request_scope* scope) const {
  if (admission_.refusing()) return admission_.refusal();
  const std::int64_t now = loop_.now();
  if (scope != nullptr)
    if (auto why = scope->refusal(now)) return *why;
  const std::string full =
      cat("the mailbox of ", options_.name, " is full (", requests_.capacity(), " requests without an answer); ");
  if (now >= start_deadline_ns) return error::retry_later("device", ETIMEDOUT, deadline_texts::before_room(full));
  std::string remedy = "await earlier ones or device::room(), or raise device_options::mailbox_capacity";
  if (options_.when_full == when_full::refuse) remedy += ", or leave device_options::when_full at wait";
  if (!options.waits_for_room) remedy += ", or leave call_options::waits_for_room at true";
  return error::retry_later("device", EAGAIN, full + remedy);
}

accepted request_mailbox::refuse(const error& why, const checker& checked, pending_core* answer,
                                 const request_info& info) {
  rejected_.add(why, checked);
  const auto uses = checked.uses();
  const bool replaces_marks = std::any_of(uses.begin(), uses.end(), [](const operand_use& u) {
    const block* const b = u.range->owner.get();
    return b != nullptr && u.touched.mode != access_mode::read && b->stale_marks.load(std::memory_order_seq_cst) != 0;
  });
  if (replaces_marks && !admission_.left()) completion_.recheck_inputs_before(UINT64_MAX);
  mark_outputs_refused(checked, why);
  if (answer != nullptr) info.answer(*answer, no_reply, &why);
  return accepted(why);
}

std::uint32_t request_mailbox::take_slot(const call_options& options, std::int64_t start_deadline_ns,
                                         const request_scope* scope) noexcept {
  std::uint32_t slot = requests_.take();
  if (slot != ledger::none) [[likely]]
    return slot;
  if (!deferred_continuations::active()) completion_.drive();
  slot = requests_.take();
  if (slot != ledger::none || !waits_for_room(options)) return slot;
  const mailbox_room::blocked waits(room_);
  const auto gives_up = [&] { return admission_.refusing() || (scope != nullptr && scope->stopped()); };
  vain_wakes vain;
  while (slot == ledger::none && !gives_up() && loop_.now() < start_deadline_ns) {
    sleep_for_news(
        channel_, completion_, [&] { return (slot = requests_.take()) != ledger::none || gives_up(); },
        start_deadline_ns, vain);
    if (slot == ledger::none) slot = requests_.take();
  }
  return slot;
}

// Frees a slot that was not used.
void request_mailbox::return_slot(std::uint32_t slot) noexcept {
  requests_.give_back(slot);
  if (room_.has_blocked()) channel_.wake_waiters();
  if (room_.has_answers()) completion_.drive();
}

// Called if the request must be refused but already has a ticket: sends it as a request that touches nothing.
void request_mailbox::refuse_published(ledger_entry& e, std::byte* record, const checker& checked, const error& why) {
  mark_outputs_refused(checked, why);
  e.release();
  e.access_count = 0;
  protocol::disarm_command(record);
}

// From here on: `submit` and its steps. The steps are inlined, because every request runs them.

// Frees the slot unless it is used.
class request_mailbox::slot_guard {
 public:
  slot_guard(request_mailbox& mailbox, std::uint32_t slot) noexcept : mailbox_(mailbox), slot_(slot) {}
  ~slot_guard() {
    if (slot_ != ledger::none) [[unlikely]]
      mailbox_.return_slot(slot_);
  }
  slot_guard(const slot_guard&) = delete;
  std::uint32_t use() noexcept { return std::exchange(slot_, ledger::none); }

 private:
  request_mailbox& mailbox_;
  std::uint32_t slot_;
};

std::optional<error> request_mailbox::why_refused(const std::optional<error>& wrong, const checker& checked,
                                                  const call_options& options, const request_scope* scope) const {
  if (wrong && checked.stale_data() == nullptr && !admission_.left()) return wrong;
  if (admission_.refusing()) return admission_.refusal();
  if (options.timeout.nanoseconds <= 0) return error::retry_later("device", ETIMEDOUT, deadline_texts::before_start);
  if (scope != nullptr)
    if (auto why = scope->refusal(loop_.now())) return why;
  return wrong;  // stale data
}

// Also prefetches the slot after the next one, because the following request probably has the same size.
[[gnu::always_inline]] inline void request_mailbox::prefetch(std::uint32_t slot, std::size_t accesses,
                                                             std::size_t payload_bytes) noexcept {
  const std::size_t entry_bytes = requests_[slot].bytes_up_to(accesses);
  const std::size_t record_bytes = protocol::bytes_before_payload(accesses) + payload_bytes;
  slot_queue_writer& commands = channel_.commands();
  will_write(&requests_[slot], entry_bytes);
  will_write(commands.record(slot).data(), record_bytes);
  if (const std::uint32_t later = requests_.slot_after_next(); later != ledger::none) [[likely]] {
    will_write(&requests_[later], entry_bytes);
    will_write(commands.record(later).data(), record_bytes);
  }
}

// Allocates the blob for the parts of a request that vary in size. If there are too many accesses for the record, they
// are the first part.
result<void> request_mailbox::make_blob(ledger_entry& e, std::span<const block_access> listed, std::size_t bytes,
                                        blob_cursor& cursor, memory_access& list) {
  const std::size_t list_bytes = blob_cursor::padded(protocol::access_list::bytes_for(listed.size()));
  auto made = TROUPE_TRY(memory_.allocate(memory_kind::sent, bytes + list_bytes, 256, {}));
  cursor = {made->host, made->address};
  std::memset(made->host, 0, bytes + list_bytes);  // equal requests must have equal bytes, as in encode()
  list = protocol::access_list{cursor.address, listed.size()}.in_record();
  protocol::access_list::write(cursor.host, listed.size(),
                               [&](std::size_t i) -> const memory_access& { return listed[i].what; });
  cursor.advance(list_bytes);
  e.blob = std::move(made);
  return {};
}

// Stores the accesses in the ledger entry, and holds their memory. Returns `access_count` for the command's header.
// Called before the record is written, because atomic operations on reference counts wait for all earlier stores, and
// those to the record take longest.
[[gnu::always_inline]] inline std::uint8_t request_mailbox::hold_operands(ledger_entry& e,
                                                                          std::span<const operand_use> uses,
                                                                          std::vector<block_access>& joined_uses,
                                                                          std::size_t count) {
  if (joined_uses.empty()) [[likely]]
    return e.hold(uses);
  if (count == 0) {
    e.many = std::move(joined_uses);
    return protocol::listed_accesses;
  }
  std::move(joined_uses.begin(), joined_uses.end(), e.few.begin());
  return static_cast<std::uint8_t>(count);
}

// Claims a ticket. Returns the error if the request must not be sent because it is in quarantine.
[[gnu::always_inline]] inline std::optional<error> request_mailbox::claim_ticket(bool watched, std::uint32_t slot,
                                                                                 std::string_view label,
                                                                                 request_link* link,
                                                                                 std::uint64_t& ticket) {
  ledger_entry& e = requests_[slot];
  if (watched) [[unlikely]] {
    if (auto why = quarantine_.claim(slot, ticket)) return why;
  } else {
    ticket = channel_.commands().claim();
    e.ticket.store(ticket, std::memory_order_relaxed);
  }
  if (!label.empty()) [[unlikely]]
    e.label = label, e.labelled = ticket;
  if (link != nullptr) link->slot = slot, link->ticket = ticket;
  return {};
}

// publish() is a fence between the store to `in_flight` and later loads: either a thread that stops the scope finds the
// request in flight, or this thread finds that the scope is stopped.
[[gnu::always_inline]] inline void request_mailbox::publish(std::uint32_t slot, std::uint64_t ticket,
                                                            const request_info& info,
                                                            const std::shared_ptr<request_scope>& scope) {
  if (info.failure_in != nullptr) [[unlikely]]
    completion_.expect_failing_replies();
  channel_.commands().publish(ticket, slot);
  if (scope != nullptr && scope->stopped()) [[unlikely]]
    stop_requests_of(scope);
  if (channel_.commands().wake_if_sleeping())
    (void)channel_.shares_core();  // notes the core of a thread that only sends
}

// Sets the timers of a published request, and repeats the checks whose result may have changed before it was published.
[[gnu::always_inline]] inline void request_mailbox::watch_limits(std::span<const operand_use> uses,
                                                                 std::uint64_t ticket, std::int64_t deadline,
                                                                 std::int64_t run_limit) {
  bool replaces_stale = false;
  for (const operand_use& u : uses)
    replaces_stale |=
        u.touched.mode == access_mode::write && u.range->owner->stale_marks.load(std::memory_order_seq_cst) != 0;
  if (replaces_stale) [[unlikely]]
    mark_written(uses, ticket);
  if (deadline != no_deadline) [[unlikely]]
    start_deadlines_.watch(deadline);
  if (run_limit != no_deadline) [[unlikely]]
    watchdog_.watch_running(run_limit);
  if (!watchdog_.watches_heartbeat()) [[unlikely]]
    watchdog_.watch_heartbeat();
  // If the device has stopped after `submit` checked admission, no other thread would answer the request.
  if (completion_.dead()) [[unlikely]]
    completion_.drive();
}

void request_mailbox::mark_written(std::span<const operand_use> uses, std::uint64_t ticket) {
  completion_.recheck_inputs_before(ticket);
  for (const operand_use& u : uses)
    if (u.touched.mode == access_mode::write)
      memory_.mark_written(*u.range->owner.get(), u.touched.begin, u.touched.end, ticket);
}

// Refuses a request that has a slot and is not sent.
accepted request_mailbox::refuse_with_slot(std::uint32_t slot, const error& why, const checker& checked,
                                           pending_core* answer, const request_info& info) {
  ledger_entry& e = requests_[slot];
  e.release();
  if (std::exchange(e.answer, nullptr) != nullptr) answer->release();
  return_slot(slot);
  return refuse(why, checked, answer, info);
}

accepted request_mailbox::submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                                 request_link* link, const call_options& options,
                                 const std::shared_ptr<request_scope>& scope, block_ref extra, const peer_half* half) {
  slot_guard given(*this, half != nullptr ? half->slot : ledger::none);
  // Inlined, because otherwise its captures would be stored for each request.
  const auto full = [&](const error& why)
                        __attribute__((always_inline)) { return named(why, info, request, checked, options.label); };
  // Read before the check, which knows the failures up to here; the worker counts later failures against this request.
  const std::uint64_t seen = completion_.reports_seen(std::memory_order_acquire);
  const std::uint32_t seals = seals_begun_.load(std::memory_order_acquire);
  const std::uint32_t failures = completion_.failures_seen(std::memory_order_acquire);
  const std::optional<error>& wrong = checked.finish();
  if (wrong || admission_.refusing() || scope != nullptr || options.timeout.nanoseconds <= 0) [[unlikely]]
    if (const auto why = why_refused(wrong, checked, options, scope.get()))
      return refuse(full(*why), checked, answer, info);

  const auto uses = checked.uses();
  std::vector<block_access> many;
  if (uses.size() > max_operands) [[unlikely]]
    if (many = joined(uses); many.size() > protocol::access_list::most)
      return refuse(full(too_many_ranges(many.size())), checked, answer, info);
  const bool listed = many.size() > max_operands;
  const std::size_t count = listed ? 0 : many.empty() ? uses.size() : many.size();

  const std::int64_t deadline = half != nullptr ? half->start_deadline_ns : start_deadline_of(options, scope.get());
  const std::int64_t run_limit = run_limit_of(info, options, scope.get());
  const std::uint32_t slot = half != nullptr ? given.use() : take_slot(options, deadline, scope.get());
  if (slot == ledger::none) [[unlikely]]
    return refuse(full(why_no_slot(options, deadline, scope.get())), checked, answer, info);
  ledger_entry& e = requests_[slot];
  prefetch(slot, count, info.payload_bytes);
  blob_cursor cursor;
  memory_access list{};
  if (const std::size_t bytes = info.blob_bytes(request); bytes != 0 || listed) [[unlikely]]
    if (const auto made = make_blob(e, std::span(many).first(listed ? many.size() : 0), bytes, cursor, list); !made)
      return refuse_with_slot(slot, full(made.error()), checked, answer, info);
  const std::uint8_t recorded = hold_operands(e, uses, many, count);
  if (extra) [[unlikely]]
    e.extra = std::move(extra);
  if (half != nullptr) [[unlikely]]
    e.peer = half->copy, e.is_source = half->is_source;
  if (scope != nullptr) [[unlikely]]
    e.scope = scope;
  e.begin(info, answer, static_cast<std::uint8_t>(count), failures, options.retries, deadline, run_limit);
  std::byte* const record = channel_.commands().record(slot).data();
  const protocol::command_header head{
      .opcode = info.opcode,
      .library = info.library,
      .generation = static_cast<std::uint32_t>(checked.generation()),
      .reports_seen = seen,
      .segments = segments_.sent(),
      .access_count = recorded,
      .flags = {!options.coalesce, options.priority, checked.uses_managed(), run_limit != no_deadline},
      .payload_bytes = static_cast<std::uint16_t>(info.payload_bytes)};
  const auto access_at = [&](std::size_t i) -> const memory_access& { return listed ? list : e.few[i].what; };
  info.encode(request, protocol::write_command(record, head, access_at), cursor);

  const bool watched = quarantine_.watches();
  std::uint64_t ticket = 0;
  if (const auto why = claim_ticket(watched, slot, options.label, link, ticket)) [[unlikely]]
    return refuse_with_slot(slot, full(*why), checked, answer, info);
  // If an output was sealed after the check, by a request with a smaller ticket, this request must not run.
  const bool forbidden = seals_begun_.load(std::memory_order_seq_cst) != seals && checked.spare_sealed(ticket);
  if (forbidden) [[unlikely]]
    refuse_published(e, record, checked, full(error(reaction::caller_bug, "request", sealed_meanwhile)));
  e.in_flight.store(true, std::memory_order_release);
  if (forbidden) [[unlikely]]
    cancelled_.forbid(slot, ticket, sealed_meanwhile);
  publish(slot, ticket, info, scope);
  if (!watched && quarantine_.watches()) [[unlikely]]
    quarantine_.note_unknown_writes(uses);

  // From here on the request may be answered, and its slot reused, at any moment: use only locals and `checked`.
  if (forbidden) [[unlikely]]
    completion_.drive();
  else
    watch_limits(uses, ticket, deadline, run_limit);
  return accepted(ticket);
}

}  // namespace troupe
