// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <troupe/base/error.hpp>
#include <utility>

namespace troupe {

class memory_owner;

/// What a fault of the worker does to a block.
enum class fate : std::uint8_t {
  by_salvage,  ///< what the device's salvage says; nothing when no worker could write it
  lost,        ///< it stands for something that only the worker had
  kept,        ///< its reader sees to it that a new worker has written it
};

/// May a block be written? Of one that can be sealed; all others stay open.
enum class seal_state : std::uint8_t {
  open,
  sealing,    ///< asked for: nobody may write from now on, but no fault spares it yet
  sealed,     ///< read-only in every worker: no fault can change it
  unsealing,  ///< asked for, and not yet in the mailbox
};

/// One allocation: its place, whose it is, and how many handles and requests still use it.
/// Made and recycled by its owner; everything else holds it through `block_ref`.
struct block {
  memory_owner* owner = nullptr;
  /// Where every worker of the device has it mapped; 0: the allocation failed, there is no memory.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  /// Of the device, when the block was made or last renewed: see memory_owner::renew.
  std::atomic<std::uint64_t> generation{0};
  std::byte* host = nullptr;  ///< where the application has it mapped; only host-visible memory
  std::atomic<std::uint32_t> references{0};
  std::atomic<std::uint32_t> stale_marks{0};  ///< 0 while every byte may be read; else ask the owner
  std::atomic<seal_state> seal{seal_state::open};
  std::atomic<fate> at_fault{fate::by_salvage};
  bool managed = false;                       ///< only the worker that has made it has it, at an address of its own
  std::atomic<bool> gone{false};              ///< and that one has been replaced: there is no memory any more
  std::atomic<std::uint64_t> unsealed_at{0};  ///< ticket of the last request that ended a seal
};

/// Shared ownership of a block.
/// It knows its own place, as `placed` does: the copy of it that g++ 12 makes byte for byte inside a co_await
/// expression has no reference to give back, and none to give away.
class block_ref {
 public:
  block_ref() noexcept = default;
  /// Takes over one reference that the caller owns.
  explicit block_ref(block* adopted) noexcept : block_(adopted) {}
  block_ref(const block_ref& o) noexcept : block_(o.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  block_ref(block_ref&& o) noexcept : block_(o.leave()) {}
  block_ref& operator=(block_ref o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~block_ref() {
    if (self_ == this) reset();
  }

  void reset() noexcept;
  block* get() const noexcept { return block_; }
  block* operator->() const noexcept { return block_; }
  explicit operator bool() const noexcept { return block_ != nullptr; }

 private:
  block* leave() noexcept {
    if (self_ == this) return std::exchange(block_, nullptr);
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
    return block_;
  }

  block* block_ = nullptr;
  const block_ref* self_ = this;
};

/// Who made a block. Outlives its blocks.
class memory_owner {
 public:
  /// Called when the last reference to `b` is gone.
  virtual void recycle(block& b) noexcept = 0;
  /// The device has had another generation since `b` was looked at last: marks what was lost with the old ones.
  virtual void renew(block&) {}
  /// Why [begin, end) of `b` must not be read; nothing when it may be. Of a block that has been renewed.
  virtual std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const = 0;
  /// A request that should have written [begin, end) was refused: what is there is not what was promised.
  virtual void mark_refused(block& b, std::uint64_t begin, std::uint64_t end, const error& cause) = 0;
  /// A block without memory: every use of it is refused with `cause`. What a failed allocation or a wrong slice gives.
  virtual block_ref failed_buffer(std::uint64_t bytes, error cause) = 0;

 protected:
  ~memory_owner() = default;
};

inline void block_ref::reset() noexcept {
  block* b = std::exchange(block_, nullptr);
  if (b && b->references.fetch_sub(1, std::memory_order_acq_rel) == 1) b->owner->recycle(*b);
}

/// A part of a block. In the worker, where no blocks exist, only the address and size are set.
struct memory_range {
  block_ref owner;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// What a request does with a range of memory.
enum class access_mode : std::uint8_t {
  read = 0,
  write = 1,       ///< replaces all of it, reads none of it
  read_write = 2,  ///< also: writes only a part of it
};

/// What a request does with a range of memory.
struct memory_access {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  access_mode mode = access_mode::read;
};

}  // namespace troupe
