// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/memory/blocks/block_seals.hpp>
#include <troupe/memory/copying/upload_blocks.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// The memory of one device, managed by the application: its blocks, how much they use, and which of their bytes are
/// stale. Thread-safe. Exists until `abandon` was called and the last block is released.
class device_memory final : public memory_owner {
 public:
  using limits = segment_pools::limits;
  static device_memory* make(segment_source& source, limits l) { return new device_memory(source, l); }
  /// Ends allocation: the device is closed. The object is deleted with its last block.
  void abandon() noexcept;
  /// Never frees memory from now on, not even unused memory. For a process that has closed the files of this memory:
  /// closing a descriptor again could close another file.
  void keep_all() noexcept { keeps_all_.store(true); }

  /// Allocates a block with one reference. Fails with retry_later if the memory or the quota is exhausted. A sealable
  /// block shares no granule with another block.
  result<block_ref> allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment, const memory_quota& quota,
                             bool sealable = false);
  /// Allocates memory for the bytes of one upload, which only that request reads.
  result<block_ref> allocate_for_upload(std::uint64_t bytes);
  /// Returns a buffer of `bytes` at `offset` in memory of another program, which the worker maps. It counts against no
  /// limit.
  result<memory_range> import(std::uint64_t allocation, file_descriptor memory, std::uint64_t offset,
                              std::uint64_t bytes);
  /// Returns a buffer in memory that the worker can access already. `keep` is released with the last reference.
  memory_range adopt(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<const void> keep);
  /// Returns a buffer in memory that the worker serving in `generation` has allocated itself. It is lost with that
  /// worker, and freed with `keep`. It counts against the quota only.
  result<memory_range> manage(std::uint64_t address, std::uint64_t bytes, std::uint64_t generation,
                              const memory_quota& quota, std::shared_ptr<const void> keep);
  /// Maps memory of another device, or memory shared with one. All workers can access it while the block is referenced.
  /// The block is not a buffer: its content is not tracked.
  result<block_ref> attach(memory_kind kind, std::uint64_t bytes, file_descriptor memory, bool read_only);
  /// Counts an allocation that failed after all retries, for the statistics.
  void count_failure(memory_kind kind) noexcept;
  block_ref failed_buffer(std::uint64_t bytes, error cause) override;
  /// Sets the limit of device memory once the device's size is known.
  void set_device_limit(std::uint64_t bytes) noexcept;
  /// Releases unused segments. Returns the number of freed bytes.
  std::uint64_t trim();
  /// Returns the figures of a kind of memory. `host` and `sent` count as one kind.
  memory_statistics statistics(memory_kind kind) const;

  block_seals& seals() noexcept { return seals_; }
  enum class writers : std::uint8_t {
    requests,         ///< only requests that name the block
    application,      ///< only the application
    application_too,  ///< requests and the application
    others,           ///< also other programs or threads: the block is shared or managed, or its address was given out
  };
  writers writers_of(const block& b) const noexcept;
  struct place {
    std::uint64_t address, bytes;
    bool sealed;
  };
  /// Returns the buffer in device memory that contains the address; nullopt if there is none.
  std::optional<place> find(std::uint64_t address) const noexcept;
  /// Returns true if a fault of a worker cannot make the block stale.
  bool outlives_workers(const block& b) const noexcept;

  /// Marks the outputs of failed requests as stale. The caller passes the failed and the other open requests in the
  /// order of tickets, so that each step sees the marks of earlier ones. While an object of this class exists, other
  /// threads that read marks wait: otherwise one could see bytes as stale that a later, accepted request replaces.
  class marking {
   public:
    [[nodiscard]] explicit marking(device_memory& memory) : memory_(memory), guard_(memory.lock_) {}
    ~marking();
    marking(const marking&) = delete;

    /// Announces to other threads that the block may have marks. Must be called for each block that may be passed to
    /// `fails`, before the search for other requests that write it: a request that the search misses then sees the
    /// announcement.
    void expect(block& b);
    /// Calls `f` while others may read and remove marks. The announcements of `expect` stay.
    template <class F>
    auto without_lock(F f) {
      guard_.unlock();
      const auto result = f();
      guard_.lock();
      return result;
    }
    /// Marks the bytes as stale, because request `ticket`, which should have written them, failed.
    void fails(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket, const error& cause);
    /// Marks bytes that the lost worker may have overwritten. They are stale for all requests up to `newest`, also for
    /// those sent before the request that writes the bytes.
    void overwritten(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t newest, const error& cause);
    /// Removes marks of earlier requests, because request `ticket` replaces these bytes.
    void replaces(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// Removes losses, marks of earlier requests and the request's own mark: request `ticket` was sent before the
    /// restart, runs after it, and replaces these bytes.
    void revives(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// Does the same as device_memory::renew; stale_cause likewise.
    void renew(block& b);
    std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end,
                                     std::uint64_t ticket) const;

   private:
    device_memory& memory_;
    std::unique_lock<std::mutex> guard_;
    std::vector<owned_block*> touched_, expected_;
  };
  /// Removes marks of earlier requests, because request `ticket` replaces these bytes. The request's own mark stays: it
  /// may have failed already.
  void mark_written(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
  /// Removes marks of refusals, if the bytes have no other marks. Otherwise returns the cause of the other mark and
  /// changes nothing.
  result<void> keep(block& b, std::uint64_t begin, std::uint64_t end);
  /// Begins the next generation. With salvage::strict, bytes written before `ticket` are lost with the worker, unless
  /// they are sealed; with salvage::untouched none are.
  void lose(enum salvage how, std::uint64_t ticket, const error& cause);
  /// Does the same as the overload below, for a request that was sent already: failures of later requests do not affect
  /// it.
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket) const;
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  void mark_refused(block& b, std::uint64_t begin, std::uint64_t end, const error& cause) override;
  void recycle(block& b) noexcept override;
  void renew(block& b) override;
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const override;

 private:
  const process_home home_;
  std::atomic<bool> keeps_all_{false};
  struct loss {
    std::uint64_t generation;  ///< affects blocks of earlier generations
    std::uint64_t ticket;
    error cause;
  };
  device_memory(segment_source& source, limits l);
  ~device_memory();
  void give_back(owned_block& b) noexcept;  // the caller holds lock_
  bool give_back_kept() noexcept;           // the caller holds lock_
  void renew_block(owned_block& b);
  owned_block* wrap(memory_kind kind, segment whole, std::uint64_t address,
                    std::uint64_t bytes);  // the caller holds lock_
  memory_range counted(owned_block* b);

  mutable std::mutex lock_;
  segment_pools pools_;
  upload_blocks uploads_;
  block_seals seals_;
  std::uint64_t imported_bytes_ = 0, managed_bytes_ = 0;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> generation_{1};
  std::vector<loss> losses_;   // the first loss and the latest ones
  std::vector<loss> workers_;  // lost workers, whatever `salvage` says: memory that only a worker has is lost with it
};

}  // namespace troupe
