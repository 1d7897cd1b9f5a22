// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/sharing/duplicate.hpp>
#include <troupe/device/sharing/peer_channel.hpp>

namespace troupe {

static constexpr std::uint64_t least_room = segment_alignment, most_rooms = std::uint64_t{256} << 20;

result<staging_place> peer_channel::take(device_memory& source, device_memory& target, std::uint64_t bytes) {
  const std::scoped_lock guard(lock_);
  arena::node* place = places_.allocate(bytes);
  if (place == nullptr) {
    TROUPE_TRY(add_segment(source, target, bytes));
    place = places_.allocate(bytes);
  }
  if (place == nullptr)
    return error(reaction::retry_later, "memory",
                 "copy between devices: the application is out of memory; free some and try again");
  const segment& r = segments_[place->segment()];
  const std::uint64_t offset = place->address() - r.here.address();
  auto* const header = std::construct_at(reinterpret_cast<staging_header*>(r.here.data() + offset));
  return staging_place{header, r.at_source->address + offset, r.at_target->address + offset, place};
}

// Workers map the segment before any request uses it, because they handle a message about memory before later requests.
result<void> peer_channel::add_segment(device_memory& source, device_memory& target, std::uint64_t bytes) {
  const std::uint64_t reserved = places_.reserved_bytes(), want = round_up(std::max(bytes, reserved), least_room);
  if (reserved + bytes > most_rooms)
    return error(reaction::retry_later, "memory",
                 cat("copy between devices: copies in progress from ", name_, " use all ", most_rooms >> 20,
                     " MiB of host memory for such copies; await some of them first"));
  auto file = memory_file::create("troupe-peers", std::min(want, most_rooms - reserved));
  if (!file) return file.error();
  auto here = TROUPE_TRY(mapping::map(*file, map_access::read_write));
  const auto attached = [&file](device_memory& to) -> result<block_ref> {
    auto fd = TROUPE_TRY(duplicate(file->fd(), "copy between devices: dup"));
    return to.attach(memory_kind::host, file->size(), std::move(fd), false);
  };
  auto at_source = TROUPE_TRY(attached(source));
  auto at_target = TROUPE_TRY(attached(target));
  auto entry = std::find_if(segments_.begin(), segments_.end(), [](const segment& r) { return !r.here; });
  if (entry == segments_.end()) entry = segments_.insert(entry, segment());
  const auto id = static_cast<arena::segment_id>(entry - segments_.begin());
  TROUPE_TRY(places_.add_segment(id, here.address(), here.size()));
  *entry = {std::move(here), std::move(at_source), std::move(at_target)};
  return {};
}

void peer_channel::give_back(const staging_place& m) noexcept {
  const std::scoped_lock guard(lock_);
  places_.free(m.place);
}

std::uint64_t peer_channel::trim() {
  const std::scoped_lock guard(lock_);
  std::uint64_t freed = 0;
  for (const arena::segment_id id : places_.idle_segments()) {
    if (!places_.remove_segment(id)) continue;
    freed += segments_[id].here.size();
    segments_[id] = {};
  }
  return freed;
}

block_ref peer_channel::find_mapped(const std::shared_ptr<const memory_file>& file) const {
  const std::scoped_lock guard(lock_);
  const auto at = mapped_.find(file.get());
  return at == mapped_.end() || at->second.of.lock() != file ? block_ref() : at->second.where;
}

void peer_channel::note_mapped(const std::shared_ptr<const memory_file>& file, block_ref where) {
  const std::scoped_lock guard(lock_);
  mapped_.insert_or_assign(file.get(), mapped_file{file, std::move(where)});
}

void peer_channel::hide(const memory_file* file) noexcept {
  const std::scoped_lock guard(lock_);
  mapped_.erase(file);
}

void peer_channel::hide_all() noexcept {
  const std::scoped_lock guard(lock_);
  mapped_.clear();
}

void peer_channel::count(std::uint64_t bytes) noexcept {
  copies_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

peer_statistics peer_channel::statistics() const {
  peer_statistics out{.from = name_, .direct = !staged_.load(), .copies = copies_.load(), .bytes = bytes_.load()};
  const std::scoped_lock guard(lock_);
  for (const auto& [file, s] : mapped_) out.seen_bytes += s.where->bytes;
  out.shared_bytes = places_.reserved_bytes();
  return out;
}

// A worker may have written any counts. At least one half always has its turn, so its running time counts.
bool peer_copy::is_turn_of(bool source) const noexcept {
  const staging_header& h = *at_.header;
  const std::uint64_t filled = h.filled.load(std::memory_order_relaxed),
                      emptied = h.emptied.load(std::memory_order_relaxed);
  if (filled == checked_count::damaged || emptied == checked_count::damaged) return true;
  const bool can_fill = filled < std::min(emptied + plan_.chunks, plan_.count()), can_empty = emptied < filled;
  return can_fill == can_empty || (source ? can_fill : can_empty);
}

void peer_copy::source_failed(const error& why) {
  {
    const std::scoped_lock guard(lock_);
    cause_ = why;
  }
  break_off();
}

std::optional<error> peer_copy::cause() const {
  const std::scoped_lock guard(lock_);
  return cause_;
}

}  // namespace troupe
