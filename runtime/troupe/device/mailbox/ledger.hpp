// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/processor/by_itself.hpp>
#include <troupe/device/recovery/quarantine/quarantine.hpp>
#include <troupe/device/request_info.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

class peer_copy;
class request_scope;

/// The access of a request to a range of a block.
struct block_access {
  memory_access what;
  block_ref where;
};

/// Everything that the application knows about a request, from its acceptance until it is retired.
struct alignas(64) ledger_entry {
  /// Set by the submitting thread after it has written everything below; cleared by the thread that retires the
  /// request.
  std::atomic<bool> in_flight{false};
  bool answered = false;                 ///< guarded by the drive lock
  bool reported = false;                 ///< the worker has reported that it failed; guarded by the drive lock
  std::uint8_t access_count = 0;         ///< number of accesses in `few`
  std::uint8_t retries = 0;              ///< number of times that it may run again if a worker dies while running it
  std::atomic<std::uint64_t> ticket{0};  ///< unreliable while the slot passes from one request to the next
  std::atomic<std::int64_t> start_deadline_ns{no_deadline};
  std::atomic<std::int64_t> run_limit_ns{no_deadline};  ///< maximum running time
  const request_info* info = nullptr;
  pending_core* answer = nullptr;   ///< owns one reference; null for tells
  std::uint32_t failures_seen = 0;  ///< completion::failures_seen when its inputs were last checked
  std::array<block_access, max_operands> few;
  std::vector<block_access> many;        ///< used instead of `few` if there are more accesses
  block_ref blob, extra;                 ///< other memory that lives as long as the request
  std::shared_ptr<peer_copy> peer;       ///< set for one half of a copy between devices
  bool is_source = false;                ///< of `peer`: true for the source's half
  std::shared_ptr<request_scope> scope;  ///< may cancel the request before it starts; may be null
  std::unique_ptr<const error> failure;  ///< its answer, or the answer if the next worker would have to run it
  // For the watchdog, on the control loop only.
  std::uint64_t running_ticket = 0;  ///< ticket of the request that is being timed
  std::uint32_t running_in = 0;      ///< the worker in which it is being timed
  std::int64_t running_ns = 0;       ///< when it was first seen to run, or to have nothing left to wait for
  std::int64_t looked_ns = 0;        ///< when the watchdog last looked at it
  std::int64_t stood_ns = 0;         ///< time during which the GPU has stood still; not part of the running time
  bool running_began = false;        ///< true if it has begun; false if it only has nothing left to wait for
  std::uint64_t labelled = 0;        ///< ticket of the request that `label` belongs to
  std::string label;                 ///< call_options::label
  std::uint64_t identified = 0;      ///< ticket of the request that `identity` belongs to
  request_identity identity;

  std::span<const block_access> accesses() const noexcept {
    return many.empty() ? std::span(few).first(access_count) : std::span<const block_access>(many);
  }
  /// Returns the number of bytes of an entry that a request with this many accesses uses.
  std::size_t bytes_up_to(std::size_t accesses_in_few) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(few.data() + accesses_in_few) -
                                    reinterpret_cast<const std::byte*>(this));
  }
  /// Notes the accesses of a request with at most `max_operands`, and keeps their memory alive. Returns the number of
  /// accesses, from the first on, that the worker must order; the rest are memory of small uploads.
  [[gnu::always_inline]] std::uint8_t hold(std::span<const operand_use> uses) noexcept {
    std::size_t ordered = 0, behind = uses.size();
    for (const operand_use& u : uses) {
      const block* const b = u.range->owner.get();
      const bool needs_order = b == nullptr || !b->of_one_upload || u.touched.mode != access_mode::read;
      block_access& a = few[needs_order ? ordered++ : --behind];
      a.what = {by_itself(u.touched.begin), by_itself(u.touched.end), u.touched.mode};
      a.where = u.range->owner;
    }
    return static_cast<std::uint8_t>(ordered);
  }
  /// Fills in the entry of a request that is about to be sent. Inlined, so that all stores follow each other.
  [[gnu::always_inline]] void begin(const request_info& what, pending_core* to, std::uint8_t accesses_in_few,
                                    std::uint32_t failures, std::uint8_t may_run_again, std::int64_t start_deadline,
                                    std::int64_t run_limit) noexcept {
    if (to != nullptr) to->add_ref();
    answered = reported = false;
    info = &what;
    answer = to;
    access_count = accesses_in_few;
    failures_seen = failures;
    retries = may_run_again;
    start_deadline_ns.store(start_deadline, std::memory_order_release);
    run_limit_ns.store(run_limit, std::memory_order_relaxed);
  }
  /// Appends references to the request's memory to `to`, which keep that memory alive.
  void hand_memory_to(std::vector<block_ref>& to) {
    for (const block_access& a : accesses()) to.push_back(a.where);
    to.push_back(std::move(blob));
    to.push_back(std::move(extra));
  }
  /// Releases everything that the entry owns: memory, scope and failure.
  void release() noexcept {
    for (std::size_t i = 0; i < access_count; ++i) few[i].where.reset();
    if (!many.empty()) std::vector<block_access>().swap(many);
    blob.reset();
    extra.reset();
    peer.reset();
    scope.reset();
    failure.reset();
  }
};

/// The slots of a device's mailbox. Taking a slot and giving it back are lock-free.
class ledger {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  explicit ledger(std::uint32_t capacity);

  /// Takes a free slot; returns `none` if the mailbox is full. Any thread.
  std::uint32_t take() noexcept;
  void give_back(std::uint32_t slot) noexcept {
    chain one;
    one.add(*this, slot);
    give_back(one);
  }
  /// Slots that are given back together, because threads that take slots meanwhile retry after each change of the
  /// stack.
  class chain {
   public:
    void add(ledger& of, std::uint32_t slot) noexcept {
      of.below_[slot].store(first_, std::memory_order_relaxed);
      if (first_ == none) last_ = slot;
      first_ = slot;
      ++count_;
    }
    std::uint32_t count() const noexcept { return count_; }

   private:
    friend ledger;
    std::uint32_t first_ = none, last_ = none, count_ = 0;
  };
  /// Frees the slots of `all`, and empties it.
  void give_back(chain& all) noexcept;
  /// Returns the slot that will be taken after the next one, unless another thread takes or gives back a slot before;
  /// `none` if too few are free.
  std::uint32_t slot_after_next() const noexcept {
    const auto next = static_cast<std::uint32_t>(top_.load(std::memory_order_relaxed));
    return next == none ? none : below_[next].load(std::memory_order_relaxed);
  }

  /// Returns true if `count` slots are free. Another thread may take them first.
  bool has_free(std::uint32_t count) const noexcept {
    auto slot = static_cast<std::uint32_t>(top_.load(std::memory_order_seq_cst));
    while (count != 0 && slot != none) slot = below_[slot].load(std::memory_order_relaxed), --count;
    return count == 0;
  }

  ledger_entry& operator[](std::uint32_t slot) noexcept { return entries_[slot]; }
  const ledger_entry& operator[](std::uint32_t slot) const noexcept { return entries_[slot]; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  /// Returns the number of slots with a request that is not retired. Checks every slot.
  std::uint32_t in_flight() const noexcept;

 private:
  // A stack of free slots. The upper half of the top changes with every operation, so that a compare-and-swap fails if
  // the same slot was taken and given back in between (the ABA problem).
  std::atomic<std::uint64_t> top_;
  std::uint32_t capacity_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> below_;
  std::unique_ptr<ledger_entry[]> entries_;
};

}  // namespace troupe
