// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/memory/block_seals.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// The memory of one device, kept by the application: blocks, their accounting, and which of their bytes are stale.
/// Thread safe. Lives until it is abandoned and its last block has come back.
class device_memory final : public memory_owner {
 public:
  using limits = segment_pools::limits;
  static device_memory* make(segment_source& source, limits l) { return new device_memory(source, l); }
  /// No more memory is made; the object goes with its last block.
  void abandon() noexcept;

  /// A block with one reference, or why there is none: retry_later when memory or quota are used up. One that can be
  /// sealed shares no granule with another.
  result<block_ref> allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment, const memory_quota& quota,
                             bool sealable = false);
  /// A buffer of `bytes` at `offset` in memory that somebody else has made, and that the source opens. It counts
  /// against no limit.
  result<memory_range> import(std::uint64_t allocation, file_descriptor memory, std::uint64_t offset,
                              std::uint64_t bytes);
  /// The same where the worker sees it already. `keep` goes with the last reference.
  memory_range adopt(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<const void> keep);
  /// Memory that one worker has made for itself, the one that serves in `generation`. It goes with that worker, or with
  /// `keep`. Counts against the quota only.
  result<memory_range> manage(std::uint64_t address, std::uint64_t bytes, std::uint64_t generation,
                              const memory_quota& quota, std::shared_ptr<const void> keep);
  /// Memory of another device, or shared with one: all workers see it while somebody has the block. It is no buffer:
  /// what is in it is none of this memory's business.
  result<block_ref> attach(memory_kind kind, std::uint64_t bytes, file_descriptor memory, bool read_only);
  /// For the statistics: the caller gets nothing, also after a second try.
  void count_failure(memory_kind kind) noexcept;
  block_ref failed_buffer(std::uint64_t bytes, error cause) override;
  /// The device turned out to have so much.
  void set_device_limit(std::uint64_t bytes) noexcept;
  /// Returns unused segments to the system; returns how many bytes.
  std::uint64_t trim();
  /// `host` and `sent` together are one.
  memory_statistics statistics(memory_kind kind) const;

  block_seals& seals() noexcept { return seals_; }
  enum class writers : std::uint8_t {
    requests,         ///< nobody but requests that name it
    application,      ///< the application, and no request
    application_too,  ///< both
    others,           ///< it may be written past the device: it is shared, managed, or somebody has its address
  };
  writers writers_of(const block& b) const noexcept;
  /// Is it none of what a fault takes along?
  bool outlives_workers(const block& b) const noexcept;

  /// Failures become known: told in the order of tickets, together with what else is on its way, so that a step sees
  /// what the ones before it leave behind. While one of these lives, everybody else who asks for marks waits: nobody
  /// sees bytes stale that a later request, accepted already, will replace.
  class marking {
   public:
    [[nodiscard]] explicit marking(device_memory& memory) : memory_(memory), guard_(memory.lock_) {}
    ~marking();
    marking(const marking&) = delete;

    /// From now on a thread that looks whether the block has marks finds that it may. To be called for each that
    /// `fails` may be called for, and before looking who else writes it: who is not seen then, sees this.
    void expect(block& b);
    /// The bytes do not hold what request `ticket` should have written.
    void fails(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket, const error& cause);
    /// Request `ticket` replaces these bytes: marks of earlier requests go.
    void replaces(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// Request `ticket`, which was sent before the restart and runs after it, replaces these bytes: what was lost, and
    /// marks of earlier requests or its own.
    void revives(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// As the functions of device_memory with these names.
    void renew(block& b);
    std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end,
                                     std::uint64_t ticket) const;

   private:
    device_memory& memory_;
    const std::scoped_lock<std::mutex> guard_;
    std::vector<owned_block*> touched_;
  };
  /// Request `ticket` replaces these bytes: marks of earlier requests go. Its own stays: it may have failed already.
  void mark_written(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
  /// Marks of refusals go, where nothing else is wrong with the bytes; else the reason, and all stays as it is.
  result<void> keep(block& b, std::uint64_t begin, std::uint64_t end);
  /// Another generation begins. What was written before `ticket` is gone with the worker, except what is sealed; or
  /// nothing is, with salvage::untouched.
  void lose(enum salvage how, std::uint64_t ticket, const error& cause);
  /// The same as the one below for a request that was sent already: what failed after it does not concern it.
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) const;
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  void mark_refused(block& b, std::uint64_t begin, std::uint64_t end, const error& cause) override;
  void recycle(block& b) noexcept override;
  void renew(block& b) override;
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const override;

 private:
  struct loss {
    std::uint64_t generation;  ///< blocks of earlier ones are concerned
    std::uint64_t ticket;
    error cause;
  };
  device_memory(segment_source& source, limits l);
  ~device_memory();
  void renew_block(owned_block& b);
  owned_block* wrap(memory_kind kind, segment whole, std::uint64_t address,
                    std::uint64_t bytes);  // with the lock
  memory_range counted(owned_block* b);

  mutable std::mutex lock_;
  segment_pools pools_;
  block_seals seals_;
  std::uint64_t imported_bytes_ = 0, managed_bytes_ = 0;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> generation_{1};
  std::vector<loss> losses_;   // the last few
  std::vector<loss> workers_;  // the same, with those that lost no memory: what only a worker holds goes with each
};

}  // namespace troupe
