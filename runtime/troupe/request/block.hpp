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

/// The effect of a worker's fault on the content of a block.
enum class fate : std::uint8_t {
  by_salvage,  ///< decided by the device's `salvage`; the content is kept if no worker could write the block
  lost,        ///< the content is lost, because it represents something that only the worker had
  kept,        ///< the content is kept; its reader checks that a new worker has written it
};

/// The state of a block's seal, which decides if the block may be written. A block that cannot be sealed stays `open`.
enum class seal_state : std::uint8_t {
  open,
  sealing,    ///< seal requested: no request may write the block, but a fault may still change it
  sealed,     ///< read-only in every worker, so that no fault can change it
  unsealing,  ///< unseal requested, but the request is not in the mailbox yet
};

/// An allocation: its address, its owner, and the number of handles and requests that use it. The owner makes and
/// recycles it; everything else refers to it through `block_ref`.
struct block {
  memory_owner* owner = nullptr;
  /// The address at which every worker of the device has mapped it. 0: the allocation failed, so there is no memory.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  /// The device's generation when the block was made or last renewed: see memory_owner::renew.
  std::atomic<std::uint64_t> generation{0};
  std::byte* host = nullptr;  ///< the application's address of the block; null if only workers can access the memory
  std::atomic<std::uint32_t> references{0};
  std::atomic<std::uint32_t> stale_marks{0};  ///< 0: every byte is valid; otherwise the owner knows the stale ones
  std::atomic<seal_state> seal{seal_state::open};
  std::atomic<fate> at_fault{fate::by_salvage};
  bool of_one_upload = false;     ///< true if one request reads the block and none writes it: needs no order
  bool managed = false;           ///< true if only the worker that made the block has mapped it
  std::atomic<bool> gone{false};  ///< true after that worker was replaced: the memory no longer exists
  std::atomic<std::uint64_t> unsealed_at{0};  ///< ticket of the last request that ended a seal
};

/// Shared ownership of a block. Stores its own address, as `placed` does: inside a co_await expression, g++ 12 makes a
/// bytewise copy, which owns no reference that it could release or pass on.
class block_ref {
 public:
  block_ref() noexcept = default;
  /// Takes over a reference that the caller owns.
  explicit block_ref(block* adopted) noexcept : block_(adopted) {}
  block_ref(const block_ref& o) noexcept : block_(o.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  block_ref(block_ref&& o) noexcept : block_(o.leave()) {}
  block_ref& operator=(const block_ref& o) noexcept { return *this = block_ref(o); }
  block_ref& operator=(block_ref&& o) noexcept {
    block* const taken = o.leave();
    reset();
    block_ = taken;
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

/// The component that makes blocks. It outlives them.
class memory_owner {
 public:
  /// Called when the last reference to `b` is released.
  virtual void recycle(block& b) noexcept = 0;
  /// Called if the device's generation has changed since `b` was last renewed: marks the bytes that were lost in
  /// between.
  virtual void renew(block&) {}
  /// Returns the reason why bytes [begin, end) of `b` must not be read; nullopt if they may. Precondition: `b` is
  /// renewed.
  virtual std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const = 0;
  /// Marks bytes [begin, end) of `b` as stale, because a request that should have written them was refused.
  virtual void mark_refused(block& b, std::uint64_t begin, std::uint64_t end, const error& cause) = 0;
  /// Returns a block without memory, for a failed allocation or an invalid slice. Requests that use it are refused with
  /// `cause`.
  virtual block_ref failed_buffer(std::uint64_t bytes, error cause) = 0;

 protected:
  ~memory_owner() = default;
};

inline void block_ref::reset() noexcept {
  block* b = std::exchange(block_, nullptr);
  if (b && b->references.fetch_sub(1, std::memory_order_acq_rel) == 1) b->owner->recycle(*b);
}

/// A range of a block's memory. In a worker, which has no blocks, only the address and the size are set.
struct memory_range {
  block_ref owner;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// A request's use of a range of memory.
enum class access_mode : std::uint8_t {
  read = 0,
  write = 1,       ///< replaces the whole range, and reads none of it
  read_write = 2,  ///< reads the range, or writes only a part of it
  /// Replaces all, some or none of the range, and reads none of it. Bytes that it does not replace stay stale if they
  /// are.
  conditional_write = 3,
};

/// Returns true if a request with this access needs the content of the memory.
constexpr bool reads(access_mode m) noexcept { return m == access_mode::read || m == access_mode::read_write; }
/// Returns true if all of the memory is valid after a request with this access has succeeded.
constexpr bool makes_valid(access_mode m) noexcept { return m == access_mode::write || m == access_mode::read_write; }

/// The access of a request to one range of memory.
struct memory_access {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  access_mode mode = access_mode::read;
};

}  // namespace troupe
