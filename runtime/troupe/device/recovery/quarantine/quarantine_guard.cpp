// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Identifies the request that a worker died of, and checks requests before they are sent: see quarantine.
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/core/duration_text.hpp>
#include <troupe/device/recovery/quarantine/quarantine_guard.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {
namespace {

// Data beyond these limits are not hashed: they count as different data each time.
constexpr std::uint64_t most_hashed_bytes = 4 << 20, most_uploaded_bytes = 64 << 20, most_hashed_in_recovery = 1 << 20;
// The tag of memory that has not been written since it was allocated.
constexpr std::uint64_t fresh_tag = 0;

// Returns true for requests that write data from outside the device, which cannot be identified.
bool brings_data(std::uint64_t opcode) noexcept {
  return opcode == opcode_of<memory::peer_take> || opcode == opcode_of<memory::peer_receive> ||
         opcode == opcode_of<memory::take_back>;
}

}  // namespace

quarantine_guard::quarantine_guard(device_board& board) noexcept
    : board_(board), known_({.after = board.options.quarantine_after, .window = board.options.restart_window}) {}

// Identifies a request whose record is written. Hashes at most `hash_budget` bytes, and subtracts those that it hashes.
// The caller holds the quarantine's lock.
request_identity quarantine_guard::identify(std::uint32_t slot, std::uint64_t& hash_budget) {
  const ledger_entry& e = board_.requests[slot];
  content_hash kind(known_.key()), data(known_.key());
  bool known = !brings_data(e.info->opcode);
  if (e.info->opcode == opcode_of<memory::stream_in>) {
    kind.add(e.info->opcode);  // the rest of the request is about its chunks only
    // A request that was refused after it got its ticket uploads nothing.
    const std::uint64_t digest = e.extra ? reinterpret_cast<const sent_header*>(e.extra->host)->digest : 0;
    known = digest != 0;
    data.add(digest);
  } else {
    const auto blob = e.blob ? std::span<const std::byte>(e.blob->host, e.blob->bytes) : std::span<const std::byte>();
    known_.add_description({.opcode = e.info->opcode,
                            .payload = protocol::payload_of(board_.channel.commands().record(slot)),
                            .blob = blob,
                            .blob_address = e.blob ? e.blob->address : 0,
                            .memory_begin = memory_begin_,
                            .memory_end = memory_end_},
                           kind);
  }
  for (const block_access& a : e.accesses()) {
    if (!reads(a.what.mode)) continue;
    const block& b = *a.where.get();
    const device_memory::writers who = board_.memory.writers_of(b);
    known &= who != device_memory::writers::others;
    if (who == device_memory::writers::application || who == device_memory::writers::application_too) {
      // State that a worker keeps for itself does not belong to the request.
      if (b.at_fault.load(std::memory_order_relaxed) != fate::by_salvage) continue;
      const std::uint64_t bytes = a.what.end - a.what.begin;
      if (bytes > hash_budget) {
        known = false;
      } else {
        hash_budget -= bytes;
        // Sent memory, such as a program or the content of an upload, is part of the request's kind.
        content_hash& to = who == device_memory::writers::application ? kind : data;
        to.add(std::span<const std::byte>(b.host + (a.what.begin - b.address), bytes));
      }
    }
    if (who != device_memory::writers::application) known_.contents().add_content(a.what.begin, a.what.end, data);
  }
  return {kind.value(), known ? data.value() : known_.unknown_data()};
}

// Stores the identity of a request that is being sent, and tags its outputs for later requests. The caller holds the
// quarantine's lock.
void quarantine_guard::note_sent(std::uint32_t slot, const request_identity& id) {
  ledger_entry& e = board_.requests[slot];
  e.identity = id;
  e.identified = e.ticket.load(std::memory_order_relaxed);
  std::uint64_t which = 0;
  for (const block_access& a : e.accesses()) {
    ++which;
    if (a.what.mode == access_mode::read) continue;
    content_hash tag(known_.key());
    tag.add(id.kind);
    tag.add(id.data);
    tag.add(which);
    if (a.what.mode == access_mode::conditional_write) known_.contents().add_content(a.what.begin, a.what.end, tag);
    known_.contents().write(a.what.begin, a.what.end, tag.value());
  }
}

std::optional<error> quarantine_guard::claim(std::uint32_t slot, std::uint64_t& ticket) {
  const auto guard = known_.lock();
  std::uint64_t hash_budget = most_hashed_bytes;
  const request_identity id = identify(slot, hash_budget);
  const std::int64_t now = board_.loop.now();
  if (const auto s = known_.refusal_of(id, now)) return refusal_error(*s, now);
  ticket = board_.channel.commands().claim();
  board_.requests[slot].ticket.store(ticket, std::memory_order_relaxed);
  note_sent(slot, id);
  return {};
}

error quarantine_guard::refusal_error(const quarantine::refusal& s, std::int64_t now_ns) const {
  const quarantine::limits& limits = known_.limit();
  std::string text =
      cat("refused: ", s.deaths, s.deaths == 1 ? " worker has" : " workers have", " died of requests of this kind");
  if (!limits.window.unlimited())
    text += " within " + duration_text(limits.window.nanoseconds) + " (device_options::restart_window)";
  text += cat(", ",
              s.own < s.deaths ? cat(s.own, " of them known to be ")
              : s.own > 1      ? "all of them "
                               : "",
              "with the same data");
  text += cat(", most recently the worker of ", board_.options.name, " ", duration_text(now_ns - s.last_ns), " ago (",
              s.cause, "); ");
  text += limits.window.unlimited()
              ? std::string("only device::reset() ends the refusal")
              : "the refusal ends in " + duration_text(s.ends_ns - now_ns) + ", or with device::reset()";
  text += cat(". Requests with other data are accepted. device_options::quarantine_after is ", limits.after,
              "; 0 turns refusals off");
  return error(reaction::caller_bug, "device", std::move(text));
}

void quarantine_guard::note_unknown_writes(std::span<const operand_use> uses) {
  const auto guard = known_.lock();
  for (const operand_use& u : uses)
    if (u.touched.mode != access_mode::read)
      known_.contents().write(u.touched.begin, u.touched.end, known_.unknown_data());
}

void quarantine_guard::is_fresh(const memory_range& r) {
  if (!known_.watches() || r.address == 0) return;
  const auto guard = known_.lock();
  known_.contents().write(r.address, r.address + r.bytes, fresh_tag);
}

std::uint64_t quarantine_guard::digest_of(std::span<const std::byte> uploaded) const {
  if (!known_.watches() || uploaded.size() > most_uploaded_bytes) return 0;
  content_hash h(known_.key());
  h.add(uploaded);
  return h.value();
}

// Writes are tagged from the first blamed death on, beginning with the requests that are open then, in ticket order. A
// thread that is sending a request meanwhile either finds that the quarantine watches, or its request is open here.
void quarantine_guard::blame(std::uint32_t slot, fault_record& record) {
  if (board_.options.quarantine_after == 0) return;
  const auto guard = known_.lock();
  if (!known_.watches()) {
    known_.watch();
    std::uint64_t hash_budget = most_hashed_in_recovery;
    for (const auto& [ticket, open] : open_up_to(board_.requests, UINT64_MAX))
      note_sent(open, identify(open, hash_budget));
  }
  const ledger_entry& e = board_.requests[slot];
  std::uint64_t nothing = 0;
  const request_identity id =
      e.identified == e.ticket.load(std::memory_order_relaxed) ? e.identity : identify(slot, nothing);
  const std::int64_t now = board_.loop.now();
  const auto s = known_.blame(id, record.blamed->name, record.cause.text(), now);
  record.deaths_alike = known_.deaths_of_kind(id.kind, now);
  record.quarantined = s.has_value();
  if (s && s->ends_ns != no_deadline)
    record.quarantine = time_span(std::chrono::nanoseconds(s->ends_ns - now));
  else if (s)
    record.quarantine = time_span::for_ever();
}

void quarantine_guard::arm_expiry() {
  std::int64_t next;
  {
    const auto guard = known_.lock();
    next = known_.next_ns();
  }
  if (next == no_deadline || armed_) return;
  armed_ = true;
  board_.loop.at(next, *this);
}

void quarantine_guard::on_time(std::uint64_t) {
  armed_ = false;
  std::vector<std::string> ended;
  {
    const auto guard = known_.lock();
    ended = known_.expire(board_.loop.now());
  }
  emit_ended(ended, cat("is accepted again with any data: fewer than ", board_.options.quarantine_after,
                        " workers have died of it within device_options::restart_window"));
  arm_expiry();
}

void quarantine_guard::lift() {
  std::vector<std::string> ended;
  {
    const auto guard = known_.lock();
    ended = known_.lift(board_.loop.now());
  }
  emit_ended(ended, "is accepted again with any data: reset() was called");
}

void quarantine_guard::emit_ended(const std::vector<std::string>& names, const std::string& why) {
  for (const std::string& name : names)
    board_.events.emit(
        event_kind::quarantine_ended,
        error(error::details{
            .reaction = reaction::retry_later, .domain = "device", .text = name + " " + why, .request = {name, 0}}));
}

std::size_t quarantine_guard::quarantined() const {
  const auto guard = known_.lock();
  return known_.size(board_.loop.now());
}

}  // namespace troupe
