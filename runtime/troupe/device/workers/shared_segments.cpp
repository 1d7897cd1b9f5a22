// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/keep_from_children.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/sharing/peer_channel.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

shared_segments::shared_segments(device_board& board, worker_pool& workers, supervision& supervisor) noexcept
    : board_(board), workers_(workers), supervisor_(supervisor) {}

void shared_segments::set_addresses(std::uint64_t begin, std::uint64_t device_bytes, std::uint64_t host_bytes) {
  addresses_of(memory_kind::device) = {begin, device_bytes};
  addresses_of(memory_kind::host) = {begin + device_bytes, host_bytes};
}

static result<memory_file> create(memory_kind kind, bool apart, std::uint64_t bytes, file_descriptor prepared) {
  switch (kind) {
    case memory_kind::device:
      if (prepared && apart) return memory_file::foreign(std::move(prepared), bytes);
      if (prepared) return memory_file::open(std::move(prepared), 1);
      return memory_file::create("troupe-device-memory", bytes);
    case memory_kind::host:
      return memory_file::create("troupe-host-memory", bytes);
    case memory_kind::sent:
      break;
  }
  return memory_file::create_for_readers("troupe-sent-memory", bytes);
}

// Returns true if the worker has closed its end of the socket, so it is ending or has ended. The worker that replaces
// it is sent everything.
static bool has_closed(const error& why) noexcept { return why.reaction() == reaction::context_lost; }

// Reports a worker that missed a message about memory: it must not serve.
void shared_segments::report_missed_memory(worker_link& link, const error& why) {
  link.missed_memory.store(true);
  supervisor_.report({device_supervisor::event_kind::misbehaved, link.id(), why});
}

// Sends a message to every worker. The serving worker comes first: if it does not accept the message, no worker gets
// it, because a worker counts the messages that it has received. Calls `missed` for each other worker that does not
// accept it. Skips workers that have closed their end, because they are ending. The caller holds the worker pool's
// lock.
template <class Send, class Missed>
result<void> shared_segments::send_to_all(Send&& send, Missed&& missed) {
  worker_link* const serving = workers_.find(board_.worker.id());
  if (serving != nullptr)
    if (const auto sent = send(*serving); !sent && !has_closed(sent.error())) return sent;
  for (const auto& link : workers_.links()) {
    if (link.get() == serving) continue;
    if (const auto sent = send(*link); !sent && !has_closed(sent.error())) missed(*link, sent.error());
  }
  return {};
}

// After a release of memory, allocation may fail for a while, because each worker unmaps it in its own time.
result<file_descriptor> shared_segments::prepare(memory_kind kind, std::uint64_t bytes, bool after_release) {
  if (!board_.gpu || kind != memory_kind::device) return file_descriptor();
  constexpr std::int64_t patience_ns = 1'000'000'000, pause_ns = 5'000'000;
  const std::int64_t until = after_release ? board_.loop.now() + patience_ns : 0;
  while (true) {
    auto made = workers_.ask_one([&](allocation_client& m, std::int64_t deadline) {
      return m.make(round_up(bytes, segment_alignment), deadline);
    });
    if (made || made.error().reaction() != reaction::retry_later || board_.loop.now() >= until) return made;
    // Nothing reports when the driver has reclaimed the memory, so try again after a pause.
    std::uint64_t seen = workers_.changes();
    workers_.wait_for_change(seen, board_.loop.now() + pause_ns);
  }
}

// Maps the segment in every worker, present and future. The caller holds the worker pool's lock.
result<std::uint64_t> shared_segments::place_segment(held_segment s, std::uint64_t bytes) {
  address_space& addresses = addresses_of(s.kind);
  const auto address = addresses.take(bytes);
  if (!address)
    return error(reaction::retry_later, "memory",
                 "alloc: the device's addresses are too fragmented; free buffers, or open another device");
  s.address = *address;
  const std::uint32_t number = sent_.load(std::memory_order_relaxed) + 1;
  const auto told = send_to_all([&](worker_link& link) { return link.send_map(*address, s.file, number, s.read_only); },
                                [&](worker_link& link, const error& why) { report_missed_memory(link, why); });
  if (!told) {
    addresses.give_back(*address, bytes);
    return told.error();
  }
  segments_.push_back(std::move(s));
  sent_.store(number, std::memory_order_release);
  return *address;
}

result<segment> shared_segments::attach(memory_kind kind, std::uint64_t bytes, file_descriptor theirs, bool read_only) {
  const auto guard = workers_.lock();
  if (board_.admission.refusing()) return board_.admission.refusal();
  auto opened =
      TROUPE_TRY(board_.gpu && kind == memory_kind::device ? result(memory_file::foreign(std::move(theirs), bytes))
                                                           : memory_file::open(std::move(theirs), bytes));
  const std::uint64_t whole = round_up(opened.size(), segment_alignment);
  const auto address = TROUPE_TRY(place_segment({.file = std::make_shared<const memory_file>(std::move(opened)),
                                                 .kind = kind,
                                                 .read_only = read_only,
                                                 .theirs = true},
                                                whole));
  return segment{address, whole, nullptr, nullptr};
}

result<segment> shared_segments::grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) {
  bytes = round_up(bytes, segment_alignment);
  const auto guard = workers_.lock();
  if (board_.admission.refusing()) return board_.admission.refusal();
  auto made = TROUPE_TRY(create(kind, board_.gpu, bytes, std::move(prepared)));
  bytes = round_up(made.size(), segment_alignment);  // a prepared file may be larger than requested
  const auto file = std::make_shared<const memory_file>(std::move(made));
  mapping here;
  if (kind != memory_kind::device) {
    here = TROUPE_TRY(mapping::map(*file, map_access::read_write));
  }
  const bool read_only = kind == memory_kind::sent;
  if (read_only) {
    TROUPE_TRY(file->end_writing());
    keep_from_children(here.data(), here.size());
  }
  const auto address = TROUPE_TRY(place_segment({.file = file, .kind = kind, .read_only = read_only}, bytes));
  struct backing {
    std::shared_ptr<const memory_file> file;
    mapping here;
  };
  std::byte* host = here.data();
  return segment{address, bytes, host, std::make_shared<backing>(backing{file, std::move(here)})};
}

void shared_segments::shrink(memory_kind kind, const segment& s) noexcept {
  const auto guard = workers_.lock();
  const std::uint32_t number = sent_.load(std::memory_order_relaxed) + 1;
  bool all = true;
  const auto told = send_to_all([&](worker_link& link) { return link.send_unmap(s.address, number); },
                                [&](worker_link&, const error&) { all = false; });
  const auto held =
      std::find_if(segments_.begin(), segments_.end(), [&s](const auto& h) { return h.address == s.address; });
  if (held != segments_.end()) {
    if (!held->theirs)
      for (const auto& p : peer_channels_)
        if (auto channel = p.lock()) board_.loop.post([channel, file = held->file] { channel->hide(file.get()); });
    segments_.erase(held);
  }
  if (told) sent_.store(number, std::memory_order_release);
  // A worker that missed the message still maps the segment, so its addresses are not used again.
  if (told && all) addresses_of(kind).give_back(s.address, s.bytes);
}

// Sends the change to all workers, standbys included. Requests sent later wait until the worker has made it. Worker
// `by` changes the protection itself when it runs the request, because a GPU may read the memory until then; so the
// message has 0 bytes for it and only advances the count.
void shared_segments::protect(std::uint64_t address, std::uint64_t bytes, bool read_only, worker_id by) noexcept {
  const auto guard = workers_.lock();
  if (read_only)
    protected_.insert_or_assign(address, bytes);
  else
    protected_.erase(address);
  const std::uint32_t number = sent_.load(std::memory_order_relaxed) + 1;
  for (const auto& link : workers_.links()) {
    const auto told = link->send_protect({address, link->id() == by ? 0 : bytes}, number, read_only);
    if (!told && !has_closed(told.error())) report_missed_memory(*link, told.error());
  }
  sent_.store(number, std::memory_order_release);
}

std::uint64_t shared_segments::last_ticket() const noexcept { return board_.channel.newest_ticket(); }

result<void> shared_segments::send_all_to(worker_link& fresh) const {
  const std::uint32_t number = sent_.load(std::memory_order_relaxed);
  for (const held_segment& s : segments_) TROUPE_TRY(fresh.send_map(s.address, s.file, number, s.read_only));
  std::vector<protocol::protected_place> sealed;
  for (const auto& [address, bytes] : protected_) sealed.push_back({address, bytes});
  return sealed.empty() ? result<void>() : fresh.send_protected(sealed, number);
}

std::optional<shared_segments::place> shared_segments::find(std::uint64_t address) const {
  const auto guard = workers_.lock();
  for (const held_segment& s : segments_)
    if (address >= s.address && address - s.address < s.file->size())
      return place{s.file, address - s.address, s.read_only};
  return {};
}

std::vector<std::shared_ptr<const memory_file>> shared_segments::own_files() const {
  const auto guard = workers_.lock();
  std::vector<std::shared_ptr<const memory_file>> files;
  for (const held_segment& s : segments_)
    if (s.kind == memory_kind::device && !s.theirs) files.push_back(s.file);
  return files;
}

void shared_segments::add_peer(const std::shared_ptr<peer_channel>& channel) {
  const auto guard = workers_.lock();
  std::erase_if(peer_channels_, [](const auto& p) { return p.expired(); });
  peer_channels_.push_back(channel);
}

void shared_segments::hide_from_peers() noexcept {
  for (const auto& p : peer_channels_)
    if (const auto channel = p.lock()) channel->hide_all();
}

}  // namespace troupe
