// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <troupe/base/futex.hpp>
#include <troupe/device/recovery/quarantine.hpp>
#include <troupe/device/request_info.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

class peer_copy;
class request_scope;

/// What a request does with a block.
struct block_access {
  memory_access what;
  block_ref where;
};

/// Everything the application remembers of a request between accepting and answering it.
struct alignas(64) ledger_entry {
  /// free → in_flight by the submitting thread, with everything below written before; → free by the thread that retires
  /// it.
  std::atomic<bool> in_flight{false};
  bool answered = false;                 ///< under the drive lock
  std::uint8_t access_count = 0;         ///< of `few`
  std::uint8_t retries = 0;              ///< how often it may be run again after the worker died in it
  std::atomic<std::uint64_t> ticket{0};  ///< others read it, and must not rely on it, while the slot changes hands
  std::atomic<std::int64_t> start_deadline_ns{no_deadline};
  std::atomic<std::int64_t> run_limit_ns{no_deadline};  ///< for how long it may run
  const request_info* info = nullptr;
  pending_core* answer = nullptr;  ///< one reference; null for tells
  std::array<block_access, max_operands> few;
  std::vector<block_access> many;        ///< instead of `few`, when there are more
  block_ref blob, extra;                 ///< what else must live as long
  std::shared_ptr<peer_copy> peer;       ///< it is one half of a copy between devices …
  bool is_source = false;                ///< … and which
  std::shared_ptr<request_scope> scope;  ///< what may end it before it starts
  std::unique_ptr<const error> failure;  ///< its answer, or what it would be from the next worker
  std::uint64_t running_ticket = 0;      ///< the control loop's: seen running …
  std::uint32_t running_in = 0;          ///< … in this worker …
  std::int64_t running_ns = 0;           ///< … first at this time …
  bool running_began = false;            ///< … or, until it has begun, nothing left that it could wait for
  std::uint64_t identified = 0;          ///< the ticket of the request that `identity` is of
  request_identity identity;

  std::span<const block_access> accesses() const noexcept {
    return many.empty() ? std::span(few).first(access_count) : std::span<const block_access>(many);
  }
  /// How much of an entry is used with so many accesses.
  std::size_t bytes_up_to(std::size_t accesses_in_few) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(few.data() + accesses_in_few) -
                                    reinterpret_cast<const std::byte*>(this));
  }
  /// A request is about to be sent from this slot. Inlined: everything is written in one go.
  [[gnu::always_inline]] void begin(const request_info& what, pending_core* to, std::uint8_t accesses_in_few,
                                    std::uint8_t may_run_again, std::int64_t start_deadline,
                                    std::int64_t run_limit) noexcept {
    if (to != nullptr) to->add_ref();
    answered = false;
    info = &what;
    answer = to;
    access_count = accesses_in_few;
    retries = may_run_again;
    start_deadline_ns.store(start_deadline, std::memory_order_release);
    run_limit_ns.store(run_limit, std::memory_order_relaxed);
  }
  /// Its memory lives on there.
  void hand_memory_to(std::vector<block_ref>& to) {
    for (const block_access& a : accesses()) to.push_back(a.where);
    to.push_back(std::move(blob));
    to.push_back(std::move(extra));
  }
  /// Lets go of all memory.
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

/// The slots of a device's mailbox. Taking and giving back is lock-free.
class ledger {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  explicit ledger(std::uint32_t capacity);

  /// A free slot, or `none`: the mailbox is full. Any thread.
  std::uint32_t take() noexcept;
  void give_back(std::uint32_t slot) noexcept;
  /// The slot that will be taken after the next one, unless somebody takes or gives back meanwhile; `none`: too few are
  /// free.
  std::uint32_t likely_later() const noexcept {
    const auto next = static_cast<std::uint32_t>(top_.load(std::memory_order_relaxed));
    return next == none ? none : below_[next].load(std::memory_order_relaxed);
  }

  /// Are `count` slots free? Another thread may take them first.
  bool has_free(std::uint32_t count) const noexcept {
    auto slot = static_cast<std::uint32_t>(top_.load(std::memory_order_seq_cst));
    while (count != 0 && slot != none) slot = below_[slot].load(std::memory_order_relaxed), --count;
    return count == 0;
  }

  ledger_entry& operator[](std::uint32_t slot) noexcept { return entries_[slot]; }
  const ledger_entry& operator[](std::uint32_t slot) const noexcept { return entries_[slot]; }
  std::uint32_t capacity() const noexcept { return capacity_; }
  /// Requests without an answer at this moment. Looks at every slot.
  std::uint32_t in_flight() const noexcept;

 private:
  // A stack of free slots. The upper half of the top changes with every operation, so that a slot that was taken and
  // given back in between is not taken for the same top (ABA).
  std::atomic<std::uint64_t> top_;
  std::uint32_t capacity_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> below_;
  std::unique_ptr<ledger_entry[]> entries_;
};

}  // namespace troupe
