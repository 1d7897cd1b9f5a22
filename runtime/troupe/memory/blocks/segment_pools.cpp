// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/blocks/segment_pools.hpp>

namespace troupe {

struct segment_pools::pool {
  pool(memory_kind k, std::uint64_t l)
      : kind(k),
        limit(l),
        // A block freed twice soon has two owners: aborting is better than corruption.
        ranges(arena::options{.payload_bytes = sizeof(owned_block),
                              .payload_align = alignof(owned_block),
                              .on_misuse = arena::misuse::abort}) {}
  const memory_kind kind;
  std::uint64_t limit;
  arena ranges;
  std::vector<segment> segments;  // a segment's id is its index; an entry of 0 bytes is unused
  std::uint64_t allocations = 0, failed = 0;
};

segment_pools::segment_pools(segment_source& source, limits l)
    : source_(&source),
      pools_({std::make_unique<pool>(memory_kind::device, l.device_bytes),
              std::make_unique<pool>(memory_kind::device, l.device_bytes),
              std::make_unique<pool>(memory_kind::host, l.host_bytes),
              std::make_unique<pool>(memory_kind::sent, l.host_bytes)}),
      seal_granule_(l.seal_granule),
      seals_segments_(l.seals_segments) {}

segment_pools::~segment_pools() = default;

std::uint64_t segment_pools::charged_for(std::uint64_t bytes) noexcept {
  return round_up(bytes, arena::options{}.granule);
}

// Returns the pools that share a limit.
std::span<const std::unique_ptr<segment_pools::pool>> segment_pools::pools_of(memory_kind kind) const noexcept {
  const std::span all(pools_);
  return kind == memory_kind::device ? all.first(2) : all.subspan(2);
}

segment_pools::pool& segment_pools::pool_for(memory_kind kind, bool sealable) const noexcept {
  const bool apart = kind == memory_kind::device && sealable;
  return *pools_[apart ? 0 : 1 + static_cast<std::size_t>(kind)];
}

bool segment_pools::has_single_blocks(const pool& p) const noexcept { return seals_segments_ && &p == pools_[0].get(); }

void segment_pools::set_device_limit(std::uint64_t bytes) noexcept {
  for (const auto& p : pools_of(memory_kind::device)) p->limit = bytes;
}

std::uint64_t segment_pools::used_bytes(memory_kind kind) const noexcept {
  std::uint64_t used = 0;
  for (const auto& p : pools_of(kind)) used += p->ranges.used_bytes();
  return used;
}

result<segment_pools::shape> segment_pools::shape_of(std::uint64_t bytes, std::uint64_t alignment,
                                                     bool sealable) const {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return error(reaction::caller_bug, "memory", cat("alloc: alignment is ", alignment, "; expected a power of two"));
  // A segment that is sealed as a whole holds only this block, so the block begins where the segment does.
  if (sealable && seals_segments_ && alignment > segment_alignment)
    return error(reaction::caller_bug, "memory",
                 cat("alloc: alignment is ", alignment, "; expected at most ", segment_alignment,
                     " with alloc_options::sealable on this device: ask for less, or leave out sealable"));
  if (sealable) alignment = std::max(alignment, seal_granule_);
  const std::uint64_t taken = std::max<std::uint64_t>(bytes, 1);  // so that an empty buffer has an address of its own
  const std::uint64_t size = sealable ? round_up(taken, seal_granule_) : taken;
  const std::uint64_t charged = charged_for(size);
  if (charged < bytes) return error(reaction::caller_bug, "memory", "alloc: the size does not fit 64 bits");
  return shape{size, alignment, charged};
}

std::optional<error> segment_pools::never_fits(memory_kind kind, const shape& s, std::uint64_t bytes,
                                               bool sealable) const {
  const std::uint64_t limit = pool_for(kind, sealable).limit;  // a GPU's limit changes when a worker reports its size
  if (s.charged <= limit) return {};
  const std::string_view of = kind != memory_kind::device ? "host memory (device_options::host_memory_limit"
                                                          : "memory (device_options::memory_limit";
  return error(reaction::caller_bug, "memory",
               cat("alloc: ", bytes, " bytes can never fit; expected at most ",
                   limit / arena::options{}.granule * arena::options{}.granule, ", all of the device's ", of,
                   "): ask for less, or raise that limit"));
}

error segment_pools::no_room(memory_kind kind, const pool& p, std::uint64_t bytes) const {
  return error::retry_later(
      "memory", ENOMEM,
      cat("alloc: no room for ", bytes, " bytes: ", used_bytes(kind), " of ", p.limit, " in use, largest free range ",
          p.ranges.statistics().largest_free_bytes, "; free buffers, ask for less, or raise device_options::",
          kind == memory_kind::device ? "memory_limit" : "host_memory_limit"));
}

result<owned_block*> segment_pools::take(memory_kind kind, const shape& s, std::uint64_t bytes, bool sealable,
                                         std::unique_lock<std::mutex>& guard) {
  pool& p = pool_for(kind, sealable);
  const std::uint64_t limit = p.limit;
  const bool within_limit = s.charged <= limit - std::min(limit, used_bytes(kind));
  arena::node* n = within_limit ? p.ranges.allocate(s.size, s.alignment) : nullptr;
  if (n == nullptr) [[unlikely]] {
    std::optional<error> why;
    // Another thread may be preparing a segment in which this block fits too.
    while (within_limit && growing_ && n == nullptr) {
      grown_.wait(guard);
      n = p.ranges.allocate(s.size, s.alignment);
    }
    // An alignment beyond that of segments can cost as much again. The retry may fail only because of the limit.
    const std::uint64_t need =
        s.alignment > segment_alignment ? s.charged + std::min(s.alignment, UINT64_MAX - s.charged) : s.charged;
    if (within_limit && n == nullptr && grow(p, guard, need, why)) n = p.ranges.allocate(s.size, s.alignment);
    if (n == nullptr) return why ? *why : no_room(kind, p, bytes);
  }
  auto* b = static_cast<owned_block*>(p.ranges.payload(n));
  if (b->owner == nullptr) std::construct_at(b);  // a node's first use: later blocks reuse the members
  b->address = n->address();
  b->bytes = bytes;
  b->kind = kind;
  if (kind != memory_kind::device) {
    const segment& in = p.segments[n->segment()];
    b->host = in.host + (n->address() - in.address);
  }
  b->charged = s.charged;
  b->sealable = sealable ? s.size : 0;
  b->references.store(1, std::memory_order_relaxed);
  ++p.allocations;
  std::uint64_t& high_water = high_water_[kind == memory_kind::device ? 0 : 1];
  high_water = std::max(high_water, used_bytes(kind));
  return b;
}

void segment_pools::give_back(owned_block& b) {
  pool& p = pool_for(b.kind, b.sealable != 0);
  p.ranges.free(arena::node_of(&b));
  // A segment made for one block cannot hold others, so it is released when that block is freed.
  if (has_single_blocks(p) && source_ != nullptr) release_idle(p);
}

const owned_block* segment_pools::find(std::uint64_t address) const noexcept {
  for (const auto& p : pools_of(memory_kind::device))
    if (const arena::node* const n = p->ranges.find(address))
      return static_cast<const owned_block*>(p->ranges.payload(n));
  return nullptr;
}

void segment_pools::count_failure(memory_kind kind) noexcept { ++pool_for(kind, false).failed; }

result<segment> segment_pools::make(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes,
                                    bool after_release) {
  growing_ = true;
  guard.unlock();
  auto prepared = source_->prepare(p.kind, bytes, after_release);
  guard.lock();
  growing_ = false;
  grown_.notify_all();
  if (!prepared) return prepared.error();
  return source_->grow(p.kind, bytes, std::move(*prepared));
}

bool segment_pools::grow(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes, std::optional<error>& why) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20;
  if (source_ == nullptr) {
    why.emplace(reaction::stopped, "memory", "alloc: the device is closed; open another");
    return false;
  }
  const auto unreserved = [&p] { return p.limit - std::min(p.limit, p.ranges.reserved_bytes()); };
  std::uint64_t freed = 0;
  if (bytes > unreserved()) freed = release_idle(p);  // the free memory may be in several segments that are too small
  // The pools of one kind of memory share a limit. Idle segments of the other pools are released before more is
  // reserved.
  std::uint64_t reserved = 0;
  for (const auto& of : pools_of(p.kind)) reserved += of->ranges.reserved_bytes();
  if (reserved + bytes > p.limit)
    for (const auto& of : pools_of(p.kind))
      if (of.get() != &p) freed += release_idle(*of);
  const std::uint64_t room = unreserved();
  if (bytes > room) return false;
  // Segments grow with the reserved memory, so that their number stays small. A segment that is sealed as a whole has
  // only one block.
  std::uint64_t want = has_single_blocks(p) ? bytes : std::max({bytes, least, p.ranges.reserved_bytes() / 2});
  want = std::max(bytes, std::min(round_up(want, segment_alignment), room / 256 * 256));
  result<segment> made = make(p, guard, want, false);
  // Tries again only if memory is short, not if the worker did not answer in time (ETIMEDOUT).
  const auto is_out = [&made] {
    return !made && made.error().reaction() == reaction::retry_later && made.error().code() != ETIMEDOUT;
  };
  // Other programs may use the rest of the device's memory: try the bare size.
  if (is_out() && want > bytes) made = make(p, guard, bytes, false);
  // The limit may exceed the device's free memory: idle segments of this device may hold the memory that is missing.
  if (is_out() && freed + release_idle(p.kind) != 0) made = make(p, guard, bytes, true);
  if (!made) {
    why = made.error();
    return false;
  }
  auto entry = std::find_if(p.segments.begin(), p.segments.end(), [](const segment& s) { return s.bytes == 0; });
  if (entry == p.segments.end()) entry = p.segments.insert(entry, segment());
  const auto id = static_cast<arena::segment_id>(entry - p.segments.begin());
  if (auto added = p.ranges.add_segment(id, made->address, made->bytes); !added) {
    source_->shrink(p.kind, *made);
    why = added.error();
    return false;
  }
  *entry = std::move(*made);
  return true;
}

std::uint64_t segment_pools::release_idle(pool& p) {
  std::uint64_t freed = 0;
  for (const arena::segment_id id : p.ranges.idle_segments()) {
    if (!p.ranges.remove_segment(id)) continue;
    segment& s = p.segments[id];
    source_->shrink(p.kind, s);
    freed += s.bytes;
    s = {};
  }
  return freed;
}

std::uint64_t segment_pools::release_idle(memory_kind kind) {
  std::uint64_t freed = 0;
  for (const auto& p : pools_of(kind)) freed += release_idle(*p);
  return freed;
}

std::uint64_t segment_pools::trim() {
  return source_ == nullptr ? 0 : release_idle(memory_kind::device) + release_idle(memory_kind::host);
}

memory_statistics segment_pools::statistics(memory_kind kind) const {
  arena_statistics all;
  memory_statistics out;
  for (const auto& p : pools_of(kind)) {
    const arena_statistics s = p->ranges.statistics();
    all.reserved_bytes += s.reserved_bytes;
    all.used_bytes += s.used_bytes;
    all.live_ranges += s.live_ranges;
    all.largest_free_bytes = std::max(all.largest_free_bytes, s.largest_free_bytes);
    out.total_bytes = p->limit;
    out.allocations += p->allocations;
    out.failed_allocations += p->failed;
  }
  out.free_bytes = out.total_bytes - std::min(out.total_bytes, all.used_bytes);
  out.used_bytes = all.used_bytes;
  out.high_water_bytes = high_water_[kind == memory_kind::device ? 0 : 1];
  out.reserved_bytes = all.reserved_bytes;
  out.live_buffers = all.live_ranges;
  out.fragmentation = all.fragmentation();
  return out;
}

}  // namespace troupe
