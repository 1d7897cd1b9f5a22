// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Which request it is that a worker has died of, and whether one that is to be sent is the same: see quarantine.
#include <troupe/base/cat.hpp>
#include <troupe/device/completion/open_requests.hpp>
#include <troupe/device/lasting.hpp>
#include <troupe/device/recovery/quarantine_guard.hpp>
#include <troupe/device/waiting/device_events.hpp>
#include <troupe/memory/requests.hpp>
#include <troupe/memory/staging.hpp>

namespace troupe {
namespace {

// What takes longer to look at is taken for other data each time.
constexpr std::uint64_t most_seen_bytes = 4 << 20, most_uploaded_bytes = 64 << 20, most_seen_in_recovery = 1 << 20;
// Of memory that was allocated and not written since.
constexpr std::uint64_t fresh = 0;

// What these write comes from where nobody here looks.
bool brings_data(std::uint64_t opcode) noexcept {
  return opcode == opcode_of<memory::peer_take> || opcode == opcode_of<memory::peer_receive> ||
         opcode == opcode_of<memory::take_back>;
}

std::string times(std::uint32_t n) { return n == 1 ? "once" : n == 2 ? "twice" : cat(n, " times"); }

}  // namespace

quarantine_guard::quarantine_guard(const device_options& options, const device_loop& loop, shared_channel& channel,
                                   ledger& requests, device_memory& memory, device_events& events) noexcept
    : options_(options),
      loop_(loop),
      channel_(channel),
      requests_(requests),
      memory_(memory),
      events_(events),
      known_({.after = options.quarantine_after, .window = options.restart_window}) {}

// With the quarantine's lock, of a request whose record is written. `may_look_at`: bytes; what was looked at is taken
// off.
request_identity quarantine_guard::identify(std::uint32_t slot, std::uint64_t& may_look_at) {
  const ledger_entry& e = requests_[slot];
  content_hash kind(known_.key()), data(known_.key());
  bool known = !brings_data(e.info->opcode);
  if (e.info->opcode == opcode_of<memory::stream_in>) {
    kind.add(e.info->opcode);  // all else that it says is where its parts lie
    const std::uint64_t digest = reinterpret_cast<const sent_header*>(e.extra->host)->digest;
    known = digest != 0;
    data.add(digest);
  } else {
    const auto blob = e.blob ? std::span<const std::byte>(e.blob->host, e.blob->bytes) : std::span<const std::byte>();
    known_.add_description({.opcode = e.info->opcode,
                            .payload = protocol::payload_of(channel_.commands().record(slot)),
                            .blob = blob,
                            .blob_address = e.blob ? e.blob->address : 0,
                            .memory_begin = memory_begin_,
                            .memory_end = memory_end_},
                           kind);
  }
  for (const block_access& a : e.accesses()) {
    if (a.what.mode == access_mode::write) continue;
    const block& b = *a.where.get();
    const device_memory::writers who = memory_.writers_of(b);
    known &= who != device_memory::writers::others;
    if (who == device_memory::writers::application || who == device_memory::writers::application_too) {
      // A worker's own notes say nothing about the request.
      if (b.at_fault.load(std::memory_order_relaxed) != fate::by_salvage) continue;
      const std::uint64_t bytes = a.what.end - a.what.begin;
      if (bytes > may_look_at) {
        known = false;
      } else {
        may_look_at -= bytes;
        // What is only sent is a part of what the request says: a program, the content of an upload.
        content_hash& to = who == device_memory::writers::application ? kind : data;
        to.add(std::span<const std::byte>(b.host + (a.what.begin - b.address), bytes));
      }
    }
    if (who != device_memory::writers::application) known_.contents().add_content(a.what.begin, a.what.end, data);
  }
  return {kind.value(), known ? data.value() : known_.unknown_data()};
}

// With the quarantine's lock: it is in the mailbox, and what comes after it finds what it writes.
void quarantine_guard::note_sent(std::uint32_t slot, const request_identity& id) {
  ledger_entry& e = requests_[slot];
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
    known_.contents().write(a.what.begin, a.what.end, tag.value());
  }
}

// Claims the request's place in the order, unless it is refused.
std::optional<error> quarantine_guard::claim(std::uint32_t slot, std::uint64_t& ticket) {
  const auto guard = known_.lock();
  std::uint64_t may_look_at = most_seen_bytes;
  const request_identity id = identify(slot, may_look_at);
  const std::int64_t now = loop_.now();
  if (const auto s = known_.sentence_of(id, now)) return refused(*s, now);
  ticket = channel_.commands().claim();
  requests_[slot].ticket.store(ticket, std::memory_order_relaxed);
  note_sent(slot, id);
  return {};
}

error quarantine_guard::refused(const quarantine::sentence& s, std::int64_t now_ns) const {
  const quarantine::limits& limits = known_.limit();
  std::string text = cat("refused: with the same data it has brought the worker of ", options_.name, " down ",
                         times(s.own), ", the last time ", lasting(now_ns - s.last_ns), " ago (", s.cause, "), and ",
                         s.deaths, " workers have died of such requests");
  if (limits.window.unlimited())
    text += "; nothing but device::reset() ends this";
  else
    text += " within " + lasting(limits.window.nanoseconds) + ", device_options::restart_window; this ends in " +
            lasting(s.ends_ns - now_ns) + ", or with device::reset()";
  text += cat(". Other data are served. device_options::quarantine_after is ", limits.after, "; 0 refuses nothing");
  return error(reaction::caller_bug, "device", std::move(text));
}

// It was sent while nobody seemed to watch.
void quarantine_guard::lose_track(std::span<const operand_use> uses) {
  const auto guard = known_.lock();
  for (const operand_use& u : uses)
    if (u.touched.mode != access_mode::read)
      known_.contents().write(u.touched.begin, u.touched.end, known_.unknown_data());
}

void quarantine_guard::is_fresh(const memory_range& r) {
  if (!known_.watches() || r.address == 0) return;
  const auto guard = known_.lock();
  known_.contents().write(r.address, r.address + r.bytes, fresh);
}

std::uint64_t quarantine_guard::digest_of(std::span<const std::byte> uploaded) const {
  if (!known_.watches() || uploaded.size() > most_uploaded_bytes) return 0;
  content_hash h(known_.key());
  h.add(uploaded);
  return h.value();
}

// From the first one on it is noted who writes what: also by what is under way, in its order.
// A thread that sends at this moment either finds that, or is found here.
void quarantine_guard::blame(std::uint32_t slot, fault_record& record) {
  if (options_.quarantine_after == 0) return;
  const auto guard = known_.lock();
  if (!known_.watches()) {
    known_.watch();
    std::uint64_t may_look_at = most_seen_in_recovery;
    for (const auto& [ticket, open] : open_up_to(requests_, UINT64_MAX)) note_sent(open, identify(open, may_look_at));
  }
  const ledger_entry& e = requests_[slot];
  std::uint64_t nothing = 0;
  const request_identity id =
      e.identified == e.ticket.load(std::memory_order_relaxed) ? e.identity : identify(slot, nothing);
  const std::int64_t now = loop_.now();
  const auto s = known_.blame(id, std::string(e.info->label), record.cause.text(), now);
  record.deaths_alike = known_.deaths_of_kind(id.kind, now);
  record.quarantined = s.has_value();
  if (s && s->ends_ns != no_deadline)
    record.quarantine = time_span(std::chrono::nanoseconds(s->ends_ns - now));
  else if (s)
    record.quarantine = time_span::for_ever();
}

// On the loop.
void quarantine_guard::watch_time() {
  std::int64_t next;
  {
    const auto guard = known_.lock();
    next = known_.next_ns();
  }
  if (next == no_deadline || armed_) return;
  armed_ = true;
  loop_.at(next, *this);
}

void quarantine_guard::on_time(std::uint64_t) {
  armed_ = false;
  std::vector<std::string> ended;
  {
    const auto guard = known_.lock();
    ended = known_.expire(loop_.now());
  }
  tell_of_ended(ended, cat("is taken again with all data: fewer than ", options_.quarantine_after,
                           " workers have died of it within device_options::restart_window"));
  watch_time();
}

void quarantine_guard::lift() {
  std::vector<std::string> ended;
  {
    const auto guard = known_.lock();
    ended = known_.lift(loop_.now());
  }
  tell_of_ended(ended, "is taken again with all data: reset() was called");
}

void quarantine_guard::tell_of_ended(const std::vector<std::string>& names, const std::string& why) {
  for (const std::string& name : names)
    events_.emit(
        event_kind::quarantine_ended,
        error(error::details{
            .reaction = reaction::retry_later, .domain = "device", .text = name + " " + why, .request = {name, 0}}));
}

std::size_t quarantine_guard::quarantined() const {
  const auto guard = known_.lock();
  return known_.size(loop_.now());
}

}  // namespace troupe
