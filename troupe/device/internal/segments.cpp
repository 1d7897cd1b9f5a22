// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The memory of a device as its workers see it: each is told of every segment, and of what it may not write.
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/device/internal/core.hpp>

namespace troupe {

static constexpr std::uint64_t page_bytes = segment_alignment;

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

// The worker's end is closed: it is ending, or has ended, and whoever takes its place is told everything.
static bool has_closed(const error& why) noexcept { return why.reaction() == reaction::context_lost; }

// It has missed something about the memory.
void device_core::must_not_serve(worker_link& link, const error& why) {
  link.missed_memory.store(true);
  if (const auto self = weak_from_this().lock())
    post(*loop_, [self, id = link.id(), why] { self->feed({device_supervisor::event_kind::misbehaved, id, why}); });
}

// With link_lock_ held. The one that serves comes first: if it takes no message now, nobody gets this one, for whoever
// has got it takes its number for done. `missed` is told of others that take none. One that has closed its end is
// ending.
template <class Send, class Missed>
result<void> device_core::tell_all(Send&& send, Missed&& missed) {
  worker_link* const serving = link_of(serving_.load());
  if (serving != nullptr)
    if (const auto sent = send(*serving); !sent && !has_closed(sent.error())) return sent;
  for (const auto& link : links_) {
    if (link.get() == serving) continue;
    if (const auto sent = send(*link); !sent && !has_closed(sent.error())) missed(*link, sent.error());
  }
  return {};
}

static std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

// All workers let go of what was given back, each in its own time.
result<file_descriptor> device_core::prepare(memory_kind kind, std::uint64_t bytes, bool after_release) {
  if (!workers_allocate_ || kind != memory_kind::device) return file_descriptor();
  constexpr std::int64_t patience_ns = 1'000'000'000;
  const std::int64_t until = after_release ? loop_->now() + patience_ns : 0;
  while (true) {
    auto made =
        ask_a_worker([&](allocation_client& m, std::int64_t deadline) { return m.make(whole_pages(bytes), deadline); });
    if (made || made.error().reaction() != reaction::retry_later || loop_->now() >= until) return made;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Any worker will do: what it makes outlives it. While there is none, one is on its way.
result<file_descriptor> device_core::ask_a_worker(
    const std::function<result<file_descriptor>(allocation_client&, std::int64_t deadline_ns)>& ask) {
  const std::int64_t deadline = options_.start_timeout.after(loop_->now());
  std::string last = "alloc: no worker was there to make the memory";
  while (loop_->now() < deadline) {
    if (refusing_.load()) return refusal();
    std::shared_ptr<allocation_client> maker;
    {
      const std::scoped_lock guard(link_lock_);
      const auto ready = std::find_if(links_.begin(), links_.end(), [](const auto& l) {
        const auto m = l->maker();
        return l->ready.load() && m && !m->is_gone();
      });
      if (!links_.empty()) maker = (ready != links_.end() ? *ready : links_.back())->maker();
    }
    if (maker) {
      auto made = ask(*maker, deadline);
      if (made || !has_closed(made.error())) return made;
      last = made.error().text();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return allocation_client::late(last + ", and no other came within device_options::start_timeout; ask again");
}

// In every worker, and in those to come. With link_lock_ held.
result<std::uint64_t> device_core::place(held_segment s, std::uint64_t bytes) {
  address_space& addresses = addresses_of(s.kind);
  const auto address = addresses.take(bytes);
  if (!address)
    return error(reaction::retry_later, "memory",
                 "alloc: the device's addresses are too fragmented; free buffers, or open another device");
  s.address = *address;
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  const auto told = tell_all([&](worker_link& link) { return link.send_map(*address, s.file, number, s.read_only); },
                             [&](worker_link& link, const error& why) { must_not_serve(link, why); });
  if (!told) {
    addresses.give_back(*address, bytes);
    return told.error();
  }
  segments_.push_back(std::move(s));
  segments_sent_.store(number, std::memory_order_release);
  return *address;
}

result<segment> device_core::attach(memory_kind kind, std::uint64_t bytes, file_descriptor theirs, bool read_only) {
  const std::scoped_lock guard(link_lock_);
  if (refusing_.load()) return refusal();
  auto opened = TROUPE_TRY(workers_allocate_ && kind == memory_kind::device
                               ? result(memory_file::foreign(std::move(theirs), bytes))
                               : memory_file::open(std::move(theirs), bytes));
  const std::uint64_t whole = whole_pages(opened.size());
  const auto address = TROUPE_TRY(place({.file = std::make_shared<const memory_file>(std::move(opened)),
                                         .kind = kind,
                                         .read_only = read_only,
                                         .theirs = true},
                                        whole));
  return segment{address, whole, nullptr, nullptr};
}

result<segment> device_core::grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) {
  bytes = whole_pages(bytes);
  const std::scoped_lock guard(link_lock_);
  if (refusing_.load()) return refusal();
  auto made = TROUPE_TRY(create(kind, workers_allocate_, bytes, std::move(prepared)));
  bytes = whole_pages(made.size());  // somebody else's is as large as it is
  const auto file = std::make_shared<const memory_file>(std::move(made));
  mapping here;
  if (kind != memory_kind::device) {
    here = TROUPE_TRY(mapping::map(*file, map_access::read_write));
  }
  const bool read_only = kind == memory_kind::sent;
  if (read_only) TROUPE_TRY(file->end_writing());
  const auto address = TROUPE_TRY(place({.file = file, .kind = kind, .read_only = read_only}, bytes));
  struct backing {
    std::shared_ptr<const memory_file> file;
    mapping here;
  };
  std::byte* host = here.data();
  return segment{address, bytes, host, std::make_shared<backing>(backing{file, std::move(here)})};
}

void device_core::shrink(memory_kind kind, const segment& s) noexcept {
  const std::scoped_lock guard(link_lock_);
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  bool all = true;
  const auto told = tell_all([&](worker_link& link) { return link.send_unmap(s.address, number); },
                             [&](worker_link&, const error&) { all = false; });
  const auto held =
      std::find_if(segments_.begin(), segments_.end(), [&s](const auto& h) { return h.address == s.address; });
  if (held != segments_.end()) {
    if (!held->theirs) hide_from_peers(held->file);
    segments_.erase(held);
  }
  if (told) segments_sent_.store(number, std::memory_order_release);
  // Unsaid, a worker still has it there: the addresses are not used again.
  if (told && all) addresses_of(kind).give_back(s.address, s.bytes);
}

// All workers, those that stand by too. What is sent later waits until they have done it; so the one that does it by
// itself is told of nothing but that: a GPU may read that memory until the request's turn has come.
void device_core::protect(std::uint64_t address, std::uint64_t bytes, bool read_only, worker_id by) noexcept {
  const std::scoped_lock guard(link_lock_);
  if (read_only)
    protected_.insert_or_assign(address, bytes);
  else
    protected_.erase(address);
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  for (const auto& link : links_) {
    const auto told = link->send_protect({address, link->id() == by ? 0 : bytes}, number, read_only);
    if (!told && !has_closed(told.error())) must_not_serve(*link, told.error());
  }
  segments_sent_.store(number, std::memory_order_release);
}

}  // namespace troupe
