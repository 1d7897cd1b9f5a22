// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/threads/lock_soon.hpp>
#include <troupe/base/try.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
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

static error over_quota(std::uint64_t bytes, const memory_quota& quota) {
  return error::retry_later("memory", ENOMEM,
                            cat("alloc: ", bytes, " bytes exceed the quota (", quota.used(), " of ", quota.limit(),
                                " bytes used); free buffers of that quota or raise it"));
}

device_memory::device_memory(segment_source& source, segment_pools::limits l)
    : pools_(source, l), seals_(*this, generation_, pools_, lock_) {}

device_memory::~device_memory() = default;

void device_memory::abandon() noexcept {
  std::unique_lock guard(lock_);
  uploads_.close();
  give_back_kept();
  pools_.abandon();
  const bool last = blocks_ == 0;
  guard.unlock();
  if (last) delete this;
}

result<block_ref> device_memory::allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment,
                                          const memory_quota& quota, bool sealable) {
  const auto shape = TROUPE_TRY(pools_.shape_of(bytes, alignment, sealable));
  std::unique_lock guard = lock_soon(lock_);
  if (auto never = pools_.never_fits(kind, shape, bytes, sealable)) return std::move(*never);
  if (*quota.state_ && !(*quota.state_)->take(shape.charged)) return over_quota(bytes, quota);
  auto taken = pools_.take(kind, shape, bytes, sealable, guard);
  if (!taken && give_back_kept()) taken = pools_.take(kind, shape, bytes, sealable, guard);
  if (!taken) {
    if (*quota.state_) (*quota.state_)->give(shape.charged);
    return taken.error();
  }
  owned_block* const b = *taken;
  b->owner = this;
  b->generation.store(generation_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  b->quota = *quota.state_;
  b->of_one_upload = false;
  b->shelf = 0;
  ++blocks_;
  return block_ref(b);
}

result<block_ref> device_memory::allocate_for_upload(std::uint64_t bytes) {
  const bool keeps = bytes <= upload_blocks::largest;
  if (owned_block* const kept = keeps ? uploads_.take(bytes) : nullptr) {
    kept->bytes = bytes;
    kept->generation.store(generation(), std::memory_order_relaxed);
    kept->references.store(1, std::memory_order_relaxed);
    return block_ref(kept);
  }
  auto made = allocate(memory_kind::sent, keeps ? upload_blocks::size_for(bytes) : bytes, 1, {});
  if (made && keeps) uploads_.assign(static_cast<owned_block&>(*made->get()));
  if (!made && keeps) made = allocate(memory_kind::sent, bytes, 1, {});  // the exact size may still fit
  if (!made) return made;
  (*made)->bytes = bytes;
  (*made)->of_one_upload = true;
  return made;
}

owned_block* device_memory::wrap(memory_kind kind, segment whole, std::uint64_t address, std::uint64_t bytes) {
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
  if (pools_.source() == nullptr)
    return error(reaction::stopped, "memory", "import_memory: the device is closed; open another");
  auto made = TROUPE_TRY(pools_.source()->grow(memory_kind::device, allocation, std::move(memory)));
  const std::uint64_t address = made.address + offset;
  return counted(wrap(memory_kind::device, std::move(made), address, bytes));
}

memory_range device_memory::adopt(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<const void> keep) {
  const std::scoped_lock guard(lock_);
  return counted(wrap(memory_kind::device, segment{address, 0, nullptr, std::move(keep)}, address, bytes));
}

result<memory_range> device_memory::manage(std::uint64_t address, std::uint64_t bytes, std::uint64_t generation,
                                           const memory_quota& quota, std::shared_ptr<const void> keep) {
  const std::uint64_t charged = segment_pools::charged_for(bytes);
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
  if (pools_.source() == nullptr)
    return error(reaction::stopped, "memory", "attach: the device is closed; open another");
  auto made = TROUPE_TRY(pools_.source()->attach(kind, bytes, std::move(memory), read_only));
  const std::uint64_t address = made.address;
  return block_ref(wrap(kind, std::move(made), address, bytes));
}

void device_memory::count_failure(memory_kind kind) noexcept {
  const std::scoped_lock guard(lock_);
  pools_.count_failure(kind);
}

block_ref device_memory::failed_buffer(std::uint64_t bytes, error cause) {
  auto* b = new owned_block;
  b->owner = this;
  b->bytes = bytes;
  b->generation.store(generation_.load(), std::memory_order_relaxed);
  b->references.store(1, std::memory_order_relaxed);
  b->marks.add(stale_ranges::range::all(), 0, std::move(cause));
  b->stale_marks.store(1, std::memory_order_release);
  if (home_.left()) return block_ref(b);  // never freed, like all blocks in a child
  const std::scoped_lock guard(lock_);
  ++blocks_;
  return block_ref(b);
}

void device_memory::recycle(block& base) noexcept {
  auto& b = static_cast<owned_block&>(base);
  if (home_.left() || keeps_all_.load(std::memory_order_relaxed)) [[unlikely]] {
    if (b.address == 0) delete &b;
    return;
  }
  if (uploads_.keep(b)) return;  // the block was neither written nor marked
  std::unique_lock guard = lock_soon(lock_);
  const bool last = --blocks_ == 0 && pools_.source() == nullptr;
  std::unique_ptr<segment> foreign = std::move(b.foreign);
  std::shared_ptr<const void> kept;
  if (b.address == 0) {
    delete &b;
  } else if (foreign) {
    if (b.imported) imported_bytes_ -= b.bytes;
    if (b.managed) managed_bytes_ -= b.bytes;
    if (b.quota) b.quota->give(b.charged);
    if (foreign->bytes != 0 && pools_.source() != nullptr) pools_.source()->shrink(b.kind, *foreign);
    kept = std::move(foreign->keep);
    delete &b;
  } else {
    give_back(b);
  }
  guard.unlock();
  // Released later, because this thread may hold locks that the owner's destructor needs.
  if (kept.use_count() != 0) post(keeping_executor(), [mine = std::move(kept)]() mutable { mine.reset(); });
  if (last) delete this;
}

void device_memory::give_back(owned_block& b) noexcept {
  seals_.protect(b, false);
  if (b.quota) b.quota->give(b.charged);
  b.quota.reset();
  b.marks.clear();  // because the arena does not run the destructors of its payloads
  b.exported = false;
  b.stale_marks.store(0, std::memory_order_relaxed);
  b.seal.store(seal_state::open, std::memory_order_relaxed);
  b.unsealed_at.store(0, std::memory_order_relaxed);
  b.at_fault.store(fate::by_salvage, std::memory_order_relaxed);
  pools_.give_back(b);
}

// Frees the blocks kept for small uploads. Returns false if none was kept.
bool device_memory::give_back_kept() noexcept {
  const std::uint64_t before = blocks_;
  uploads_.clear([this](owned_block& b) {
    --blocks_;
    give_back(b);
  });
  return blocks_ != before;
}

void device_memory::set_device_limit(std::uint64_t bytes) noexcept {
  const std::scoped_lock guard(lock_);
  pools_.set_device_limit(bytes);
}

std::uint64_t device_memory::trim() {
  const std::scoped_lock guard(lock_);
  give_back_kept();
  return pools_.trim();
}

memory_statistics device_memory::statistics(memory_kind kind) const {
  const std::scoped_lock guard(lock_);
  memory_statistics out = pools_.statistics(kind);
  if (kind != memory_kind::device) {
    const upload_blocks::figures kept = uploads_.statistics();
    out.used_bytes -= kept.bytes;
    out.free_bytes += kept.bytes;
    out.live_buffers -= kept.blocks;
    out.allocations += kept.taken;
    return out;
  }
  out.imported_bytes = imported_bytes_;
  out.managed_bytes = managed_bytes_;
  out.sealed_bytes = seals_.sealed_bytes();
  return out;
}

void device_memory::mark_refused(block& base, std::uint64_t begin, std::uint64_t end, const error& cause) {
  if (base.address == 0 || base.gone.load(std::memory_order_acquire) || home_.left()) return;
  const std::scoped_lock guard(lock_);
  // A refused request does not affect sealed bytes.
  if (pools_.source() == nullptr || base.seal.load(std::memory_order_relaxed) != seal_state::open) return;
  auto& b = static_cast<owned_block&>(base);
  b.marks.add_refusal({begin, end}, stale_ranges::place_behind(pools_.source()->last_ticket()), cause);
  b.publish();
}

result<void> device_memory::keep(block& base, std::uint64_t begin, std::uint64_t end) {
  renew(base);
  const std::scoped_lock guard(lock_);
  auto& b = static_cast<owned_block&>(base);
  if (auto wrong = b.marks.forgive(b.range_of(begin, end))) return std::move(*wrong);
  b.publish();
  return {};
}

device_memory::marking::~marking() {
  for (owned_block* b : expected_) --b->expected, b->publish();
  for (owned_block* b : touched_) b->publish();
}

void device_memory::marking::expect(block& base) {
  if (base.address == 0) return;
  auto& b = static_cast<owned_block&>(base);
  ++b.expected;
  b.publish();
  expected_.push_back(&b);
}

void device_memory::marking::fails(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket,
                                   const error& cause) {
  if (base.address == 0 || base.gone.load(std::memory_order_acquire)) return;
  auto& b = static_cast<owned_block&>(base);
  // The newest failure of a range is reported; an older one adds nothing.
  b.cut(begin, end, stale_ranges::place_of(ticket) + 1);
  b.marks.add({begin, end}, stale_ranges::place_of(ticket), cause);
}

void device_memory::marking::overwritten(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t newest,
                                         const error& cause) {
  if (base.address == 0 || base.gone.load(std::memory_order_acquire)) return;
  static_cast<owned_block&>(base).marks.add_overwritten({begin, end}, stale_ranges::place_behind(newest), cause);
}

void device_memory::marking::replaces(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  auto& b = static_cast<owned_block&>(base);
  if (base.address == 0 || b.marks.size() == 0) return;
  b.cut(begin, end, stale_ranges::place_of(ticket));
  touched_.push_back(&b);
}

void device_memory::marking::revives(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  if (base.address != 0) static_cast<owned_block&>(base).cut(begin, end, stale_ranges::place_behind(ticket), true);
}

void device_memory::marking::renew(block& base) { memory_.renew_block(static_cast<owned_block&>(base)); }

std::optional<error> device_memory::marking::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end,
                                                         std::uint64_t ticket) const {
  const auto& b = static_cast<const owned_block&>(base);
  return b.marks.cause(b.range_of(begin, end), ticket);
}

void device_memory::lose(enum salvage how, std::uint64_t ticket, const error& cause) {
  constexpr std::size_t most_losses = 64;
  const std::scoped_lock guard(lock_);
  const std::uint64_t next = generation_.load(std::memory_order_relaxed) + 1;
  const auto note = [&](std::vector<loss>& list) {
    // The list keeps the oldest loss, for blocks that are older than the others.
    if (list.size() == most_losses) list.erase(list.begin() + 1);
    list.push_back({next, ticket, cause});
  };
  if (how == salvage::strict) note(losses_);
  note(workers_);
  generation_.store(next, std::memory_order_release);
}

void device_memory::renew(block& base) {
  if (home_.left()) return;
  const std::scoped_lock guard(lock_);
  renew_block(static_cast<owned_block&>(base));
}

static error gone_with(const error& worker) {
  error::details d = worker.all();
  d.text += "; managed memory is lost with the worker that made it: allocate it again";
  return error(std::move(d));
}

void device_memory::renew_block(owned_block& b) {
  const std::uint64_t seen = b.generation.load(std::memory_order_relaxed), now = generation_.load();
  if (seen == now || b.gone.load(std::memory_order_relaxed)) return;
  const bool only_there = b.managed || b.at_fault.load(std::memory_order_relaxed) == fate::lost;
  const std::vector<loss>& those = only_there ? workers_ : losses_;
  const auto first = std::find_if(those.begin(), those.end(), [seen](const loss& l) { return l.generation > seen; });
  // The cause of the first loss is reported, and only a write after the last loss makes the block valid. Marks of
  // requests stay: a request sent before the loss may fail after an earlier one that is kept for the next worker.
  if (first != those.end() && !outlives_workers(b)) {
    const error& cause = first->cause;
    b.marks.add_loss({b.address, b.address + b.bytes}, stale_ranges::place_behind(those.back().ticket),
                     b.managed ? gone_with(cause) : cause);
    b.publish();
    // The generation stays old, so that every later use comes here again.
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

std::optional<device_memory::place> device_memory::find(std::uint64_t address) const noexcept {
  const std::scoped_lock guard(lock_);
  const owned_block* const b = pools_.find(address);
  if (b == nullptr || address - b->address >= b->bytes) return {};
  return place{b->address, b->bytes, b->seal.load(std::memory_order_relaxed) == seal_state::sealed};
}

bool device_memory::outlives_workers(const block& base) const noexcept {
  const auto& b = static_cast<const owned_block&>(base);
  const fate f = b.at_fault.load(std::memory_order_relaxed);
  if (f != fate::by_salvage) return f == fate::kept;
  return b.kind == memory_kind::sent || b.seal.load(std::memory_order_relaxed) == seal_state::sealed;
}

void device_memory::mark_written(block& base, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) {
  if (base.address == 0) return;
  const std::scoped_lock guard(lock_);
  auto& b = static_cast<owned_block&>(base);
  b.cut(begin, end, stale_ranges::place_of(ticket));
  b.publish();
}

std::optional<error> device_memory::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end) const {
  return stale_cause(base, begin, end, UINT64_MAX / 4);
}

std::optional<error> device_memory::stale_cause(const block& base, std::uint64_t begin, std::uint64_t end,
                                                std::uint64_t ticket) const {
  if (home_.left()) return process_home::refusal();
  const std::scoped_lock guard(lock_);
  const auto& b = static_cast<const owned_block&>(base);
  return b.marks.cause(b.range_of(begin, end), ticket);
}

}  // namespace troupe
