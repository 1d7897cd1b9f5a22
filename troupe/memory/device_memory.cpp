// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <troupe/memory/device_memory.hpp>
#include <vector>

namespace troupe {

bool memory_quota::state::take(std::uint64_t bytes) noexcept {
  std::uint64_t now = used.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || now > limit - bytes) return false;
  } while (!used.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

void memory_quota::state::give(std::uint64_t bytes) noexcept { used.fetch_sub(bytes, std::memory_order_relaxed); }

// What an allocation takes of its arena, and counts against a limit and a quota. Less than `bytes`: it does not fit.
static constexpr std::uint64_t charged_for(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t granule = arena::options{}.granule;
  return (bytes + granule - 1) / granule * granule;
}

struct device_memory::mark {
  std::uint64_t begin, end, ticket;
  error cause;
};

struct device_memory::owned_block : block {
  memory_kind kind = memory_kind::device;
  std::shared_ptr<memory_quota::state> quota;
  std::vector<mark> marks;  // in no order
  std::uint64_t reach = 0;  // no mark ends after this

  // Takes the bytes out of the marks of requests before `before_ticket`.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t before_ticket) {
    if (begin >= reach) return;  // thousands of outputs of one request come in order
    for (std::size_t i = 0; i < marks.size();) {
      mark& m = marks[i];
      const bool before = m.begin<begin, after = m.end> end;
      if (m.ticket >= before_ticket || m.end <= begin || m.begin >= end) {
        ++i;
      } else if (before && after) {
        const mark rest{end, m.end, m.ticket, m.cause};
        m.end = begin;
        marks.push_back(rest);
      } else if (before) {
        m.end = begin;
      } else if (after) {
        m.begin = end;
      } else {
        if (i + 1 != marks.size()) m = std::move(marks.back());
        marks.pop_back();
      }
    }
    if (marks.empty()) reach = 0;
  }
  void add(mark m) {
    reach = std::max(reach, m.end);
    marks.push_back(std::move(m));
  }
  // Only when the marks are whole: callers look at the count without the lock.
  void publish() noexcept { stale_marks.store(static_cast<std::uint32_t>(marks.size()), std::memory_order_seq_cst); }
};

struct device_memory::pool {
  explicit pool(std::uint64_t l)
      : limit(l),
        // Memory that is freed twice soon belongs to two: better no program than a wrong one.
        ranges(arena::options{.payload_bytes = sizeof(owned_block),
                              .payload_align = alignof(owned_block),
                              .on_misuse = arena::misuse::abort}) {}
  const std::uint64_t limit;
  arena ranges;
  std::vector<segment> segments;  // a segment's id is its index; an entry of 0 bytes is unused
  std::uint64_t allocations = 0, failed = 0;
};

device_memory::device_memory(segment_source& source, limits l) : source_(&source) {
  pools_[0] = std::make_unique<pool>(l.device_bytes);
  pools_[1] = std::make_unique<pool>(l.host_bytes);
}

device_memory::~device_memory() = default;

void device_memory::abandon() noexcept {
  std::unique_lock guard(lock_);
  source_ = nullptr;
  const bool last = blocks_ == 0;
  guard.unlock();
  if (last) delete this;
}

bool device_memory::grow(pool& p, memory_kind kind, std::uint64_t bytes, std::optional<error>& why) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, page = segment_alignment;
  if (source_ == nullptr) {
    why.emplace(reaction::stopped, "memory", "alloc: the device is closed; open another");
    return false;
  }
  const auto unreserved = [&p] { return p.limit - std::min(p.limit, p.ranges.reserved_bytes()); };
  if (bytes > unreserved()) release_idle(kind);  // what is free lies in several segments, or in too small ones
  const std::uint64_t room = unreserved();
  if (bytes > room) return false;
  // Segments grow with what is in use, so that their number stays small.
  std::uint64_t want = std::max({bytes, least, p.ranges.reserved_bytes() / 2});
  want = std::min((want + page - 1) / page * page, room / 256 * 256);
  auto made = source_->grow(kind, std::max(want, bytes));
  if (!made) {
    why = made.error();
    return false;
  }
  auto entry = std::find_if(p.segments.begin(), p.segments.end(), [](const segment& s) { return s.bytes == 0; });
  if (entry == p.segments.end()) entry = p.segments.insert(entry, segment());
  const auto id = static_cast<arena::segment_id>(entry - p.segments.begin());
  if (auto added = p.ranges.add_segment(id, made->address, made->bytes); !added) {
    source_->shrink(kind, *made);
    why = added.error();
    return false;
  }
  *entry = std::move(*made);
  return true;
}

result<block_ref> device_memory::allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment,
                                          const memory_quota& quota) {
  if (bytes == 0) return error(reaction::caller_bug, "memory", "alloc: size is 0; expected at least 1 element");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return error(reaction::caller_bug, "memory",
                 "alloc: alignment is " + std::to_string(alignment) + "; expected a power of two");
  const std::uint64_t charged = charged_for(bytes);
  if (charged < bytes) return error(reaction::caller_bug, "memory", "alloc: the size does not fit 64 bits");
  pool& p = *pools_[static_cast<int>(kind)];
  if (charged > p.limit) {
    const std::string_view of = kind == memory_kind::host ? "host memory (device_options::host_memory_limit"
                                                          : "memory (device_options::memory_limit";
    return error(reaction::caller_bug, "memory",
                 "alloc: " + std::to_string(bytes) + " bytes can never fit; expected at most " +
                     std::to_string(p.limit / arena::options{}.granule * arena::options{}.granule) +
                     ", all of the device's " + std::string(of) + "): ask for less, or raise that limit");
  }
  if (quota.state_ && !quota.state_->take(charged)) {
    return error(reaction::retry_later, "memory",
                 "alloc: " + std::to_string(bytes) + " bytes exceed the quota (" + std::to_string(quota.used()) +
                     " of " + std::to_string(quota.limit()) + " bytes used); free buffers of that quota or raise it");
  }
  std::unique_lock guard(lock_);
  const bool within_limit = charged <= p.limit - std::min(p.limit, p.ranges.used_bytes());
  arena::node* n = within_limit ? p.ranges.allocate(bytes, alignment) : nullptr;
  if (n == nullptr) [[unlikely]] {
    std::optional<error> why;
    // Alignment beyond a segment's own can cost as much again; the retry may fail only when the limit is reached.
    const std::uint64_t need =
        alignment > segment_alignment ? charged + std::min(alignment, UINT64_MAX - charged) : charged;
    if (within_limit && grow(p, kind, need, why)) n = p.ranges.allocate(bytes, alignment);
    if (n == nullptr) {
      const arena_statistics s = p.ranges.statistics();
      guard.unlock();
      if (quota.state_) quota.state_->give(charged);
      if (why) return *why;
      return error(reaction::retry_later, "memory",
                   "alloc: no room for " + std::to_string(bytes) + " bytes: " + std::to_string(s.used_bytes) + " of " +
                       std::to_string(p.limit) + " in use, largest free range " + std::to_string(s.largest_free_bytes) +
                       "; free buffers, ask for less, or raise the device's memory_limit");
    }
  }
  auto* b = static_cast<owned_block*>(p.ranges.payload(n));
  if (b->owner == nullptr) std::construct_at(b);  // a node's first use; later ones find the members ready
  b->owner = this;
  b->address = n->address();
  b->bytes = bytes;
  b->generation.store(generation_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  b->kind = kind;
  if (kind == memory_kind::host) {
    const segment& s = p.segments[n->segment()];
    b->host = s.host + (n->address() - s.address);
  }
  b->quota = quota.state_;
  b->references.store(1, std::memory_order_relaxed);
  ++p.allocations;
  ++blocks_;
  return block_ref(b);
}

void device_memory::count_failure(memory_kind kind) noexcept {
  const std::scoped_lock guard(lock_);
  ++pools_[static_cast<int>(kind)]->failed;
}

block_ref device_memory::stillborn(std::uint64_t bytes, error cause) {
  auto* b = new owned_block;
  b->owner = this;
  b->bytes = bytes;
  b->generation.store(generation_.load(), std::memory_order_relaxed);
  b->references.store(1, std::memory_order_relaxed);
  b->add({0, UINT64_MAX, 0, std::move(cause)});
  b->stale_marks.store(1, std::memory_order_release);
  const std::scoped_lock guard(lock_);
  ++blocks_;
  return block_ref(b);
}

void device_memory::recycle(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  std::unique_lock guard(lock_);
  const bool last = --blocks_ == 0 && source_ == nullptr;
  if (b.address == 0) {
    delete &b;
  } else {
    if (b.quota) b.quota->give(charged_for(b.bytes));
    b.quota.reset();
    std::vector<mark>().swap(b.marks);  // also gives its memory back: nodes are never destroyed one by one
    b.reach = 0;
    b.stale_marks.store(0, std::memory_order_relaxed);
    pools_[static_cast<int>(b.kind)]->ranges.free(arena::node_of(&b));
  }
  guard.unlock();
  if (last) delete this;
}

std::uint64_t device_memory::release_idle(memory_kind kind) {
  pool& p = *pools_[static_cast<int>(kind)];
  std::uint64_t freed = 0;
  for (const arena::segment_id id : p.ranges.idle_segments()) {
    if (!p.ranges.remove_segment(id)) continue;
    segment& s = p.segments[id];
    source_->shrink(kind, s);
    freed += s.bytes;
    s = {};
  }
  return freed;
}

std::uint64_t device_memory::trim() {
  const std::scoped_lock guard(lock_);
  return source_ == nullptr ? 0 : release_idle(memory_kind::device) + release_idle(memory_kind::host);
}

memory_statistics device_memory::statistics(memory_kind kind) const {
  const std::scoped_lock guard(lock_);
  const pool& p = *pools_[static_cast<int>(kind)];
  const arena_statistics s = p.ranges.statistics();
  return {.total_bytes = p.limit,
          .free_bytes = p.limit - std::min(p.limit, s.used_bytes),
          .used_bytes = s.used_bytes,
          .high_water_bytes = s.high_water_bytes,
          .reserved_bytes = s.reserved_bytes,
          .live_buffers = s.live_ranges,
          .allocations = p.allocations,
          .failed_allocations = p.failed,
          .fragmentation = s.fragmentation()};
}

void device_memory::add_mark(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket,
                             const error& cause) {
  auto& b = static_cast<owned_block&>(base);
  // The newest failure of a range is the one to tell; an older one says nothing more.
  b.cut(begin, end, ticket + 1);
  b.add({begin, end, ticket, cause});
  b.publish();
}

void device_memory::mark_refused(block& b, std::uint64_t begin, std::uint64_t end, const error& cause) {
  if (b.address == 0) return;
  const std::scoped_lock guard(lock_);
  if (source_ != nullptr) add_mark(b, begin, end, source_->last_ticket(), cause);
}

void device_memory::lose(enum salvage how, std::uint64_t ticket, const error& cause) {
  constexpr std::size_t most_losses = 64;
  const std::scoped_lock guard(lock_);
  const std::uint64_t next = generation_.load(std::memory_order_relaxed) + 1;
  if (how == salvage::strict) {
    // A block that is older than the oldest of these is told of that one.
    if (losses_.size() == most_losses) losses_.erase(losses_.begin() + 1);
    losses_.push_back({next, ticket, cause});
  }
  generation_.store(next, std::memory_order_release);
}

void device_memory::renew(block& base) {
  const std::scoped_lock guard(lock_);
  auto& b = static_cast<owned_block&>(base);
  const std::uint64_t seen = b.generation.load(std::memory_order_relaxed), now = generation_.load();
  if (seen == now) return;
  const auto first =
      std::find_if(losses_.begin(), losses_.end(), [seen](const loss& l) { return l.generation > seen; });
  // What is told is the first cause; what replaces the content must come after the last.
  if (first != losses_.end()) add_mark(b, b.address, b.address + b.bytes, losses_.back().ticket, first->cause);
  b.generation.store(now, std::memory_order_release);
}

void device_memory::mark_revived(block& base, std::uint64_t begin, std::uint64_t end) {
  if (base.address == 0) return;
  const std::scoped_lock guard(lock_);
  cut_marks(base, begin, end, UINT64_MAX);
}

void device_memory::mark_written(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  if (base.address == 0) return;
  const std::scoped_lock guard(lock_);
  cut_marks(base, begin, end, ticket);
}

void device_memory::cut_marks(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t before_ticket) {
  auto& b = static_cast<owned_block&>(base);
  b.cut(begin, end, before_ticket);
  b.publish();
}

std::optional<error> device_memory::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end) const {
  const auto& b = static_cast<const owned_block&>(base);
  const std::scoped_lock guard(lock_);
  const mark* first = nullptr;
  for (const mark& m : b.marks) {
    const bool touches = b.address == 0 || (m.begin < end && begin < m.end);
    if (touches && (first == nullptr || m.ticket < first->ticket)) first = &m;
  }
  if (first == nullptr) return {};
  return first->cause;
}

}  // namespace troupe
