// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <troupe/async/deferred_continuations.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
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

static error over_quota(std::uint64_t bytes, const memory_quota& quota) {
  return error(reaction::retry_later, "memory",
               cat("alloc: ", bytes, " bytes exceed the quota (", quota.used(), " of ", quota.limit(),
                   " bytes used); free buffers of that quota or raise it"));
}

struct device_memory::mark {
  std::uint64_t begin, end;
  std::uint64_t order;  // place_of or place_behind a ticket
  error cause;
  bool lost = false;  // with a worker: before whatever has been kept for the next one, also with an earlier ticket
  // Of what was refused: nothing ran, so the bytes are as they were, if there was nothing wrong with them before.
  bool refused = false;
  std::shared_ptr<const error> spoiled_by = {};

  bool intact() const noexcept { return refused && spoiled_by == nullptr; }
};

// A request's place among the marks, and that of what was refused between it and the next one.
static constexpr std::uint64_t place_of(std::uint64_t ticket) noexcept { return 2 * ticket; }
static constexpr std::uint64_t place_behind(std::uint64_t ticket) noexcept { return 2 * ticket + 1; }

struct device_memory::owned_block : block {
  memory_kind kind = memory_kind::device;
  std::shared_ptr<memory_quota::state> quota;
  std::vector<mark> marks;  // in no order
  std::uint64_t reach = 0;  // no mark ends after this
  std::uint64_t charged = 0;
  std::uint64_t sealable = 0;            // bytes, in whole granules; 0: it cannot be sealed
  std::uint32_t seals = 0;               // asked for so far
  bool read_only = false;                // in all workers
  bool imported = false;                 // counts among what others have made
  bool exported = false;                 // others may have a descriptor
  std::uint32_t addresses = 0;           // this program has, and can write it there
  seal_state before = seal_state::open;  // while it is unsealing
  std::unique_ptr<segment> foreign;  // somebody else's, which only this block lies in; without bytes: not ours to map

  // Takes the bytes out of the marks before this place, and on demand out of those of losses.
  void cut(std::uint64_t begin, std::uint64_t end, std::uint64_t before, bool losses = false) {
    if (gone.load(std::memory_order_relaxed)) return;  // nothing can be written there any more
    if (begin >= reach) return;                        // thousands of outputs of one request come in order
    for (std::size_t i = 0; i < marks.size();) {
      mark& m = marks[i];
      const bool front = m.begin<begin, back = m.end> end;
      if ((m.order >= before && !(losses && m.lost)) || m.end <= begin || m.begin >= end) {
        ++i;
      } else if (front && back) {
        mark rest = m;
        rest.begin = end;
        m.end = begin;
        marks.push_back(rest);
      } else if (front) {
        m.end = begin;
      } else if (back) {
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
  pool(memory_kind k, std::uint64_t l)
      : kind(k),
        limit(l),
        // Memory that is freed twice soon belongs to two: better no program than a wrong one.
        ranges(arena::options{.payload_bytes = sizeof(owned_block),
                              .payload_align = alignof(owned_block),
                              .on_misuse = arena::misuse::abort}) {}
  const memory_kind kind;
  std::uint64_t limit;
  arena ranges;
  std::vector<segment> segments;  // a segment's id is its index; an entry of 0 bytes is unused
  std::uint64_t allocations = 0, failed = 0;
};

device_memory::device_memory(segment_source& source, limits l)
    : source_(&source), seal_granule_(l.seal_granule), seals_segments_(l.seals_segments) {
  pools_ = {std::make_unique<pool>(memory_kind::device, l.device_bytes),
            std::make_unique<pool>(memory_kind::device, l.device_bytes),
            std::make_unique<pool>(memory_kind::host, l.host_bytes),
            std::make_unique<pool>(memory_kind::sent, l.host_bytes)};
}

device_memory::~device_memory() = default;

void device_memory::abandon() noexcept {
  std::unique_lock guard(lock_);
  source_ = nullptr;
  const bool last = blocks_ == 0;
  guard.unlock();
  if (last) delete this;
}

// Those that share a limit.
std::span<const std::unique_ptr<device_memory::pool>> device_memory::pools_of(memory_kind kind) const noexcept {
  const std::span all(pools_);
  return kind == memory_kind::device ? all.first(2) : all.subspan(2);
}

device_memory::pool& device_memory::pool_for(memory_kind kind, bool sealable) const noexcept {
  const bool apart = kind == memory_kind::device && sealable;
  return *pools_[apart ? 0 : 1 + static_cast<std::size_t>(kind)];
}

bool device_memory::has_single_blocks(const pool& p) const noexcept { return seals_segments_ && &p == pools_[0].get(); }

void device_memory::set_device_limit(std::uint64_t bytes) noexcept {
  const std::scoped_lock guard(lock_);
  for (const auto& p : pools_of(memory_kind::device)) p->limit = bytes;
}

std::uint64_t device_memory::used_bytes(memory_kind kind) const noexcept {
  std::uint64_t used = 0;
  for (const auto& p : pools_of(kind)) used += p->ranges.used_bytes();
  return used;
}

bool device_memory::grow(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes, std::optional<error>& why) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20, page = segment_alignment;
  if (source_ == nullptr) {
    why.emplace(reaction::stopped, "memory", "alloc: the device is closed; open another");
    return false;
  }
  const auto unreserved = [&p] { return p.limit - std::min(p.limit, p.ranges.reserved_bytes()); };
  std::uint64_t freed = 0;
  if (bytes > unreserved()) freed = release_idle(p);  // what is free lies in several segments, or in too small ones
  // Pools of one kind have one limit for what is in use; what is idle of the other one goes before more is taken.
  std::uint64_t reserved = 0;
  for (const auto& of : pools_of(p.kind)) reserved += of->ranges.reserved_bytes();
  if (reserved + bytes > p.limit)
    for (const auto& of : pools_of(p.kind))
      if (of.get() != &p) freed += release_idle(*of);
  const std::uint64_t room = unreserved();
  if (bytes > room) return false;
  // Segments grow with what is in use, so that their number stays small. One that is sealed as a whole has but one
  // block.
  std::uint64_t want = has_single_blocks(p) ? bytes : std::max({bytes, least, p.ranges.reserved_bytes() / 2});
  want = std::max(bytes, std::min((want + page - 1) / page * page, room / 256 * 256));
  const auto make = [&](std::uint64_t size, bool after_release) -> result<segment> {
    growing_ = true;
    guard.unlock();
    auto prepared = source_->prepare(p.kind, size, after_release);
    guard.lock();
    growing_ = false;
    grown_.notify_all();
    if (!prepared) return prepared.error();
    return source_->grow(p.kind, size, std::move(*prepared));
  };
  result<segment> made = make(want, false);
  // Whoever was to answer and did not is not waited for again.
  const auto is_out = [&made] {
    return !made && made.error().reaction() == reaction::retry_later && made.error().code() != ETIMEDOUT;
  };
  // Others use the device too.
  if (is_out() && want > bytes) made = make(bytes, false);
  // The limit may be more than there is: what is idle here may be what is missing there.
  if (is_out() && freed + release_idle(p.kind) != 0) made = make(bytes, true);
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

result<block_ref> device_memory::allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment,
                                          const memory_quota& quota, bool sealable) {
  if (bytes == 0) return error(reaction::caller_bug, "memory", "alloc: size is 0; expected at least 1 element");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return error(reaction::caller_bug, "memory", cat("alloc: alignment is ", alignment, "; expected a power of two"));
  // A segment that is sealed as a whole has nothing but the block, and begins where segments do.
  if (sealable && seals_segments_ && alignment > segment_alignment)
    return error(reaction::caller_bug, "memory",
                 cat("alloc: alignment is ", alignment, "; expected at most ", segment_alignment,
                     " with alloc_options::sealable on this device: ask for less, or for a buffer that is not sealed"));
  if (sealable) alignment = std::max(alignment, seal_granule_);
  const std::uint64_t size = sealable ? (bytes + seal_granule_ - 1) / seal_granule_ * seal_granule_ : bytes;
  const std::uint64_t charged = charged_for(size);
  if (charged < bytes) return error(reaction::caller_bug, "memory", "alloc: the size does not fit 64 bits");
  pool& p = pool_for(kind, sealable);
  std::unique_lock guard(lock_);
  const std::uint64_t limit = p.limit;  // of a GPU it changes when the first worker says what there is
  if (charged > limit) {
    const std::string_view of = kind != memory_kind::device ? "host memory (device_options::host_memory_limit"
                                                            : "memory (device_options::memory_limit";
    return error(reaction::caller_bug, "memory",
                 cat("alloc: ", bytes, " bytes can never fit; expected at most ",
                     limit / arena::options{}.granule * arena::options{}.granule, ", all of the device's ", of,
                     "): ask for less, or raise that limit"));
  }
  if (*quota.state_ && !(*quota.state_)->take(charged)) return over_quota(bytes, quota);
  const bool within_limit = charged <= limit - std::min(limit, used_bytes(kind));
  arena::node* n = within_limit ? p.ranges.allocate(size, alignment) : nullptr;
  if (n == nullptr) [[unlikely]] {
    std::optional<error> why;
    // Whoever prepares a segment may prepare it for us too.
    while (within_limit && growing_ && n == nullptr) {
      grown_.wait(guard);
      n = p.ranges.allocate(size, alignment);
    }
    // Alignment beyond a segment's own can cost as much again; the retry may fail only when the limit is reached.
    const std::uint64_t need =
        alignment > segment_alignment ? charged + std::min(alignment, UINT64_MAX - charged) : charged;
    if (within_limit && n == nullptr && grow(p, guard, need, why)) n = p.ranges.allocate(size, alignment);
    if (n == nullptr) {
      const arena_statistics s = p.ranges.statistics();
      const std::uint64_t used = used_bytes(kind);
      guard.unlock();
      if (*quota.state_) (*quota.state_)->give(charged);
      if (why) return *why;
      return error(reaction::retry_later, "memory",
                   cat("alloc: no room for ", bytes, " bytes: ", used, " of ", limit, " in use, largest free range ",
                       s.largest_free_bytes, "; free buffers, ask for less, or raise the device's memory_limit"));
    }
  }
  auto* b = static_cast<owned_block*>(p.ranges.payload(n));
  if (b->owner == nullptr) std::construct_at(b);  // a node's first use; later ones find the members ready
  b->owner = this;
  b->address = n->address();
  b->bytes = bytes;
  b->generation.store(generation_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  b->kind = kind;
  if (kind != memory_kind::device) {
    const segment& s = p.segments[n->segment()];
    b->host = s.host + (n->address() - s.address);
  }
  b->quota = *quota.state_;
  b->charged = charged;
  b->sealable = sealable ? size : 0;
  b->references.store(1, std::memory_order_relaxed);
  ++p.allocations;
  ++blocks_;
  std::uint64_t& high_water = high_water_[kind == memory_kind::device ? 0 : 1];
  high_water = std::max(high_water, used_bytes(kind));
  return block_ref(b);
}

device_memory::owned_block* device_memory::wrap(memory_kind kind, segment whole, std::uint64_t address,
                                                std::uint64_t bytes) {
  auto* b = new owned_block;
  b->kind = kind;
  b->owner = this;
  b->address = address;
  b->bytes = bytes;
  b->generation.store(generation_.load(), std::memory_order_relaxed);
  b->references.store(1, std::memory_order_relaxed);
  b->foreign = std::make_unique<segment>(std::move(whole));
  ++blocks_;
  return b;
}

memory_range device_memory::counted(owned_block* b) {
  b->imported = true;
  imported_bytes_ += b->bytes;
  return {block_ref(b), b->address, b->bytes};
}

result<memory_range> device_memory::import(std::uint64_t allocation, file_descriptor memory, std::uint64_t offset,
                                           std::uint64_t bytes) {
  const std::scoped_lock guard(lock_);
  if (source_ == nullptr) return error(reaction::stopped, "memory", "import: the device is closed; open another");
  auto made = TROUPE_TRY(source_->grow(memory_kind::device, allocation, std::move(memory)));
  const std::uint64_t address = made.address + offset;
  return counted(wrap(memory_kind::device, std::move(made), address, bytes));
}

memory_range device_memory::adopt(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<const void> keep) {
  const std::scoped_lock guard(lock_);
  return counted(wrap(memory_kind::device, segment{address, 0, nullptr, std::move(keep)}, address, bytes));
}

result<memory_range> device_memory::manage(std::uint64_t address, std::uint64_t bytes, std::uint64_t generation,
                                           const memory_quota& quota, std::shared_ptr<const void> keep) {
  const std::uint64_t charged = charged_for(bytes);
  if (*quota.state_ && !(*quota.state_)->take(charged)) return over_quota(bytes, quota);
  const std::scoped_lock guard(lock_);
  owned_block* const b = wrap(memory_kind::device, segment{address, 0, nullptr, std::move(keep)}, address, bytes);
  b->managed = true;
  b->generation.store(generation, std::memory_order_relaxed);
  b->quota = *quota.state_;
  b->charged = charged;
  managed_bytes_ += bytes;
  return memory_range{block_ref(b), address, bytes};
}

result<block_ref> device_memory::attach(memory_kind kind, std::uint64_t bytes, file_descriptor memory, bool read_only) {
  const std::scoped_lock guard(lock_);
  if (source_ == nullptr) return error(reaction::stopped, "memory", "attach: the device is closed; open another");
  auto made = TROUPE_TRY(source_->attach(kind, bytes, std::move(memory), read_only));
  const std::uint64_t address = made.address;
  return block_ref(wrap(kind, std::move(made), address, bytes));
}

void device_memory::count_failure(memory_kind kind) noexcept {
  const std::scoped_lock guard(lock_);
  ++pool_for(kind, false).failed;
}

block_ref device_memory::failed_buffer(std::uint64_t bytes, error cause) {
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
  std::unique_ptr<segment> foreign = std::move(b.foreign);
  std::shared_ptr<const void> kept;
  if (b.address == 0) {
    delete &b;
  } else if (foreign) {
    if (b.imported) imported_bytes_ -= b.bytes;
    if (b.managed) managed_bytes_ -= b.bytes;
    if (b.quota) b.quota->give(b.charged);
    if (foreign->bytes != 0 && source_ != nullptr) source_->shrink(b.kind, *foreign);
    kept = std::move(foreign->keep);
    delete &b;
  } else {
    protect(b, false);
    if (b.quota) b.quota->give(b.charged);
    b.quota.reset();
    std::vector<mark>().swap(b.marks);  // also gives its memory back: nodes are never destroyed one by one
    b.reach = 0;
    b.exported = false;
    b.stale_marks.store(0, std::memory_order_relaxed);
    b.seal.store(seal_state::open, std::memory_order_relaxed);
    b.unsealed_at.store(0, std::memory_order_relaxed);
    b.at_fault.store(fate::by_salvage, std::memory_order_relaxed);
    pool& p = pool_for(b.kind, b.sealable != 0);
    p.ranges.free(arena::node_of(&b));
    // Nothing else may get a part of what only it was to have.
    if (has_single_blocks(p) && source_ != nullptr) release_idle(p);
  }
  guard.unlock();
  // Whoever lets go of the last reference may hold locks that this needs.
  if (kept.use_count() != 0) post(keeping_executor(), [mine = std::move(kept)]() mutable { mine.reset(); });
  if (last) delete this;
}

std::uint64_t device_memory::release_idle(pool& p) {
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

std::uint64_t device_memory::release_idle(memory_kind kind) {
  std::uint64_t freed = 0;
  for (const auto& p : pools_of(kind)) freed += release_idle(*p);
  return freed;
}

std::uint64_t device_memory::trim() {
  const std::scoped_lock guard(lock_);
  return source_ == nullptr ? 0 : release_idle(memory_kind::device) + release_idle(memory_kind::host);
}

memory_statistics device_memory::statistics(memory_kind kind) const {
  const std::scoped_lock guard(lock_);
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
  out.imported_bytes = kind == memory_kind::device ? imported_bytes_ : 0;
  out.managed_bytes = kind == memory_kind::device ? managed_bytes_ : 0;
  out.sealed_bytes = kind == memory_kind::device ? sealed_bytes_ : 0;
  out.fragmentation = all.fragmentation();
  return out;
}

static error nothing_ran(const error& why) {
  static constexpr std::string_view hint =
      " (nothing ran: device::keep_content makes the buffer valid again, as it was before)";
  error::details d = why.all();
  if (d.text.find(hint) == std::string::npos) d.text += hint;
  return error(std::move(d));
}

void device_memory::mark_refused(block& base, std::uint64_t begin, std::uint64_t end, const error& cause) {
  if (base.address == 0 || base.gone.load(std::memory_order_acquire)) return;
  const std::scoped_lock guard(lock_);
  // Of what is sealed, a request that is refused takes nothing away.
  if (source_ == nullptr || base.seal.load(std::memory_order_relaxed) != seal_state::open) return;
  auto& b = static_cast<owned_block&>(base);
  const auto wrong = std::find_if(b.marks.begin(), b.marks.end(),
                                  [&](const mark& m) { return !m.intact() && m.begin < end && begin < m.end; });
  mark refusal{begin, end, place_behind(source_->last_ticket()), cause, false, true};
  if (wrong == b.marks.end())
    refusal.cause = nothing_ran(cause);
  else
    refusal.spoiled_by = wrong->refused ? wrong->spoiled_by : std::make_shared<const error>(wrong->cause);
  // The newest failure of a range is the one to tell; an older one says nothing more.
  b.cut(begin, end, refusal.order + 1);
  b.add(std::move(refusal));
  b.publish();
}

result<void> device_memory::keep(block& base, std::uint64_t begin, std::uint64_t end) {
  renew(base);
  const std::scoped_lock guard(lock_);
  auto& b = static_cast<owned_block&>(base);
  const auto touched = [&](const mark& m) { return b.address == 0 || (m.begin < end && begin < m.end); };
  for (const mark& m : b.marks)
    if (touched(m) && !m.intact()) return m.refused ? *m.spoiled_by : m.cause;
  b.cut(begin, end, UINT64_MAX);
  b.publish();
  return {};
}

device_memory::marking::~marking() {
  for (owned_block* b : touched_) b->publish();
}

void device_memory::marking::expect(block& base) {
  if (base.address == 0) return;
  auto& b = static_cast<owned_block&>(base);
  b.stale_marks.store(static_cast<std::uint32_t>(b.marks.size() + 1), std::memory_order_seq_cst);
  touched_.push_back(&b);
}

void device_memory::marking::fails(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket,
                                   const error& cause) {
  if (base.address == 0 || base.gone.load(std::memory_order_acquire)) return;
  auto& b = static_cast<owned_block&>(base);
  // The newest failure of a range is the one to tell; an older one says nothing more.
  b.cut(begin, end, place_of(ticket) + 1);
  b.add({begin, end, place_of(ticket), cause});
}

void device_memory::marking::replaces(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  auto& b = static_cast<owned_block&>(base);
  if (base.address == 0 || b.marks.empty()) return;
  b.cut(begin, end, place_of(ticket));
  touched_.push_back(&b);
}

void device_memory::marking::revives(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  if (base.address != 0) static_cast<owned_block&>(base).cut(begin, end, place_behind(ticket), true);
}

void device_memory::marking::renew(block& base) { memory_.renew_block(static_cast<owned_block&>(base)); }

std::optional<error> device_memory::marking::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end,
                                                         std::uint64_t ticket) const {
  return cause_among(static_cast<const owned_block&>(base), begin, end, ticket);
}

void device_memory::lose(enum salvage how, std::uint64_t ticket, const error& cause) {
  constexpr std::size_t most_losses = 64;
  const std::scoped_lock guard(lock_);
  const std::uint64_t next = generation_.load(std::memory_order_relaxed) + 1;
  const auto note = [&](std::vector<loss>& list) {
    // A block that is older than the oldest of these is told of that one.
    if (list.size() == most_losses) list.erase(list.begin() + 1);
    list.push_back({next, ticket, cause});
  };
  if (how == salvage::strict) note(losses_);
  note(workers_);
  generation_.store(next, std::memory_order_release);
}

void device_memory::renew(block& base) {
  const std::scoped_lock guard(lock_);
  renew_block(static_cast<owned_block&>(base));
}

static error gone_with(const error& worker) {
  error::details d = worker.all();
  d.text += "; managed memory goes with the worker that made it: allocate it again";
  return error(std::move(d));
}

void device_memory::renew_block(owned_block& b) {
  const std::uint64_t seen = b.generation.load(std::memory_order_relaxed), now = generation_.load();
  if (seen == now || b.gone.load(std::memory_order_relaxed)) return;
  const bool only_there = b.managed || b.at_fault.load(std::memory_order_relaxed) == fate::lost;
  const std::vector<loss>& those = only_there ? workers_ : losses_;
  const auto first = std::find_if(those.begin(), those.end(), [seen](const loss& l) { return l.generation > seen; });
  // What is told is the first cause; what replaces the content must come after the last. Marks of requests stay: one
  // that was sent before the loss can have failed after what is kept for the next worker.
  if (first != those.end() && !outlives_workers(b)) {
    std::erase_if(b.marks, [](const mark& m) { return m.lost; });
    const error& cause = first->cause;
    b.add({b.address, b.address + b.bytes, place_behind(those.back().ticket), b.managed ? gone_with(cause) : cause,
           true});
    b.publish();
    // Not of this generation, nor of any to come: whoever uses it looks here again.
    if (b.managed) return b.gone.store(true, std::memory_order_release);
  }
  b.generation.store(now, std::memory_order_release);
}

device_memory::writers device_memory::writers_of(const block& base) const noexcept {
  const auto& b = static_cast<const owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (b.imported || b.exported || b.managed || b.foreign || b.addresses != 0) return writers::others;
  switch (b.kind) {
    case memory_kind::device:
      return writers::requests;
    case memory_kind::host:
      return writers::application_too;
    case memory_kind::sent:
      return writers::application;
  }
  return writers::others;
}

bool device_memory::outlives_workers(const block& base) const noexcept {
  const auto& b = static_cast<const owned_block&>(base);
  const fate f = b.at_fault.load(std::memory_order_relaxed);
  if (f != fate::by_salvage) return f == fate::kept;
  return b.kind == memory_kind::sent || b.seal.load(std::memory_order_relaxed) == seal_state::sealed;
}

// With the lock. Where nothing is to be changed nobody is told.
void device_memory::protect(owned_block& b, bool read_only, std::uint32_t by) noexcept {
  if (std::exchange(b.read_only, read_only) == read_only) return;
  sealed_bytes_ += read_only ? b.bytes : 0 - b.bytes;
  if (source_ != nullptr) source_->protect(b.address, b.sealable, read_only, by);
}

result<device_memory::owned_block*> device_memory::whole(const memory_range& all, const char* what) const {
  const auto refused = [what](const std::string& why) {
    return error(reaction::caller_bug, "memory", std::string(what) + ": " + why);
  };
  if (!all.owner) return refused("the buffer is empty (never allocated, or moved from)");
  if (all.owner->owner != this) return refused("the buffer belongs to another device; ask the one it was allocated on");
  auto& b = static_cast<owned_block&>(*all.owner.get());
  if (b.address == 0) return *stale_cause(b, 0, 0);
  if (all.address != b.address || all.bytes != b.bytes)
    return refused(cat("this is a slice of ", all.bytes, " bytes; expected the buffer as it was allocated (", b.bytes,
                       " bytes): pages are sealed, not elements"));
  return &b;
}

result<device_memory::seal_request> device_memory::begin_seal(const memory_range& all) {
  const auto found = TROUPE_TRY(whole(all, "seal"));
  owned_block& b = *found;
  if (b.sealable == 0)
    return error(reaction::caller_bug, "memory",
                 "seal: the buffer shares its pages with others; allocate it with alloc_options::sealable");
  const std::scoped_lock guard(lock_);
  switch (b.seal.load(std::memory_order_relaxed)) {
    case seal_state::sealed:
      return seal_request{0, b.seals};
    case seal_state::sealing:
    case seal_state::unsealing:
      return error(reaction::caller_bug, "memory",
                   "seal: the buffer is being sealed or unsealed at this moment; await that first");
    case seal_state::open:
      break;
  }
  if (b.exported)
    return error(
        reaction::caller_bug, "memory",
        "seal: a descriptor of the buffer was given out (export_memory), and whoever has it can write; copy it "
        "to another buffer, and seal that one");
  if (b.addresses != 0)
    return error(reaction::caller_bug, "memory",
                 "seal: this program has an address of the buffer and can write there; let go of it first (what keeps "
                 "address(), the tensors of to_dlpack), or copy the buffer to another, and seal that one");
  b.seal.store(seal_state::sealing, std::memory_order_seq_cst);
  return seal_request{b.sealable, ++b.seals};
}

result<void> device_memory::begin_export(block& base) {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (b.sealable != 0 && !seals_segments_)
    return error(
        reaction::caller_bug, "memory",
        "export: the buffer shares its descriptor with others that may be sealed, and whoever has it can write "
        "them; copy it to a buffer without alloc_options::sealable, and export that one");
  if (b.seal.load(std::memory_order_relaxed) != seal_state::open)
    return error(reaction::caller_bug, "memory",
                 "export: the buffer is sealed, and whoever has a descriptor can write; unseal() it first, or copy it");
  b.exported = true;
  return {};
}

bool device_memory::begin_address(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (b.seal.load(std::memory_order_relaxed) != seal_state::open) return false;
  ++b.addresses;
  return true;
}

void device_memory::end_address(block& base) noexcept {
  const std::scoped_lock guard(lock_);
  --static_cast<owned_block&>(base).addresses;
}

void device_memory::end_seal(block& base, std::uint32_t number, bool done, std::uint32_t by) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (number != b.seals) return;
  const seal_state now = b.seal.load(std::memory_order_relaxed), next = done ? seal_state::sealed : seal_state::open;
  if (now == seal_state::unsealing) b.before = next;
  if (now != seal_state::sealing) return;
  if (done) protect(b, true, by);
  b.seal.store(next, std::memory_order_seq_cst);
}

result<device_memory::seal_request> device_memory::begin_unseal(const memory_range& all) {
  const auto found = TROUPE_TRY(whole(all, "unseal"));
  owned_block& b = *found;
  const std::scoped_lock guard(lock_);
  const seal_state now = b.seal.load(std::memory_order_relaxed);
  if (now == seal_state::open) return seal_request{0, b.seals};
  if (now == seal_state::unsealing)
    return error(reaction::caller_bug, "memory",
                 "unseal: the buffer is being unsealed at this moment; await that first");
  // What was lost while it was sealed is none of its business.
  if (now == seal_state::sealed) b.generation.store(generation_.load(), std::memory_order_release);
  b.before = now;
  b.seal.store(seal_state::unsealing, std::memory_order_seq_cst);
  return seal_request{b.sealable, b.seals};
}

void device_memory::end_unseal(block& base, std::uint64_t ticket, std::uint32_t by) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (ticket != 0) {
    b.unsealed_at.store(ticket);
    ++b.seals;  // an answer to the seal is of no interest any more
    protect(b, false, by);
  } else if (b.before == seal_state::sealed) {
    protect(b, true);  // when the answer to the seal came meanwhile
  }
  b.seal.store(ticket != 0 ? seal_state::open : b.before, std::memory_order_seq_cst);
}

void device_memory::unseal_was_lost(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  const std::scoped_lock guard(lock_);
  if (!b.read_only && source_ != nullptr) source_->protect(b.address, b.sealable, false, 0);
}

void device_memory::mark_written(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  if (base.address == 0) return;
  const std::scoped_lock guard(lock_);
  auto& b = static_cast<owned_block&>(base);
  b.cut(begin, end, place_of(ticket));
  b.publish();
}

std::optional<error> device_memory::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end) const {
  return stale_cause(base, begin, end, UINT64_MAX / 4);
}

std::optional<error> device_memory::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end,
                                                std::uint64_t ticket) const {
  const std::scoped_lock guard(lock_);
  return cause_among(static_cast<const owned_block&>(base), begin, end, ticket);
}

std::optional<error> device_memory::cause_among(const owned_block& b, std::uint64_t begin, std::uint64_t end,
                                                std::uint64_t ticket) {
  const mark* first = nullptr;
  for (const mark& m : b.marks) {
    if (m.order > place_of(ticket) && !m.lost) continue;
    const bool touches = b.address == 0 || (m.begin < end && begin < m.end);
    if (touches && (first == nullptr || m.order < first->order)) first = &m;
  }
  if (first == nullptr) return {};
  return first->cause;
}

}  // namespace troupe
