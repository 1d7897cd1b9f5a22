// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/base/process_home.hpp>
#include <troupe/memory/block_seals.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/memory/upload_blocks.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// The memory of one device, managed by the application: blocks, their accounting, and which of their bytes are stale.
/// Thread-safe. Exists until it is abandoned and its last block is released.
class device_memory final : public memory_owner {
 public:
  using limits = segment_pools::limits;
  static device_memory* make(segment_source& source, limits l) { return new device_memory(source, l); }
  /// Makes no more memory. The object is deleted with its last block.
  void abandon() noexcept;
  /// Keeps all memory from now on, also what is no longer used: its files are gone, and closing them could close
  /// others.
  void keep_all() noexcept { keeps_all_.store(true); }

  /// Allocates a block with one reference. Fails with retry_later if memory or quota are used up. A sealable block
  /// shares no granule with another.
  result<block_ref> allocate(memory_kind kind, std::uint64_t bytes, std::uint64_t alignment, const memory_quota& quota,
                             bool sealable = false);
  /// Allocates memory for the bytes of one upload, which only that request reads.
  result<block_ref> allocate_for_upload(std::uint64_t bytes);
  /// Returns a buffer of `bytes` at `offset` in memory of another program, which the source opens. It counts against no
  /// limit.
  result<memory_range> import(std::uint64_t allocation, file_descriptor memory, std::uint64_t offset,
                              std::uint64_t bytes);
  /// The same for memory that the worker sees already. `keep` is released with the last reference.
  memory_range adopt(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<const void> keep);
  /// Returns memory that the worker serving in `generation` has made for itself. It is lost with that worker, and freed
  /// with `keep`. Counts against the quota only.
  result<memory_range> manage(std::uint64_t address, std::uint64_t bytes, std::uint64_t generation,
                              const memory_quota& quota, std::shared_ptr<const void> keep);
  /// Returns memory of another device, or shared with one. All workers see it while the block is referenced. It is no
  /// buffer: its content is not tracked.
  result<block_ref> attach(memory_kind kind, std::uint64_t bytes, file_descriptor memory, bool read_only);
  /// Counts a failed allocation, for the statistics, after all retries.
  void count_failure(memory_kind kind) noexcept;
  block_ref failed_buffer(std::uint64_t bytes, error cause) override;
  /// Sets the limit of device memory once the device's size is known.
  void set_device_limit(std::uint64_t bytes) noexcept;
  /// Releases unused segments, and returns how many bytes that freed.
  std::uint64_t trim();
  /// Returns the figures of a kind. `host` and `sent` count as one.
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
  /// Returns the buffer in device memory that contains the address; nothing if there is none.
  std::optional<place> find(std::uint64_t address) const noexcept;
  /// Returns true if no fault of a worker loses the block.
  bool outlives_workers(const block& b) const noexcept;

  /// Marks the outputs of failed requests, in the order of tickets and together with the other open requests, so that
  /// each step sees the marks of those before it. While one of these exists, other threads that read marks wait, so
  /// that none sees bytes as stale that a later request, accepted already, replaces.
  class marking {
   public:
    [[nodiscard]] explicit marking(device_memory& memory) : memory_(memory), guard_(memory.lock_) {}
    ~marking();
    marking(const marking&) = delete;

    /// Makes other threads find that the block may have marks. Must be called for each block that may be passed to
    /// `fails`, before searching for other requests that write it: a request that the search misses sees this.
    void expect(block& b);
    /// Calls `f` while others may read and remove marks. Blocks stay expected to have some.
    template <class F>
    auto without_lock(F f) {
      guard_.unlock();
      const auto result = f();
      guard_.lock();
      return result;
    }
    /// Marks the bytes as stale, because request `ticket` failed, which should have written them.
    void fails(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket, const error& cause);
    /// Marks the bytes as lost with the worker, which may have overwritten them, for all requests up to `newest`, also
    /// for those sent before the one that writes them.
    void overwritten(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t newest, const error& cause);
    /// Removes marks of earlier requests, because request `ticket` replaces these bytes.
    void replaces(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// Removes losses, marks of earlier requests and its own, because request `ticket`, sent before the restart and run
    /// after it, replaces these bytes.
    void revives(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
    /// Do the same as the functions of device_memory.
    void renew(block& b);
    std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end,
                                     std::uint64_t ticket) const;

   private:
    device_memory& memory_;
    std::unique_lock<std::mutex> guard_;
    std::vector<owned_block*> touched_, expected_;
  };
  /// Removes marks of earlier requests, because request `ticket` replaces these bytes. Its own mark stays: it may have
  /// failed already.
  void mark_written(block& b, std::uint64_t begin, std::uint64_t end, std::uint64_t ticket);
  /// Removes marks of refusals, if the bytes have no other marks. Otherwise returns the reason and changes nothing.
  result<void> keep(block& b, std::uint64_t begin, std::uint64_t end);
  /// Begins another generation. Bytes written before `ticket` are lost with the worker, unless they are sealed; with
  /// salvage::untouched none are.
  void lose(enum salvage how, std::uint64_t ticket, const error& cause);
  /// The same as the overload below for a request that was sent already, which later failures do not affect.
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
    std::uint64_t generation;  ///< affects blocks of earlier ones
    std::uint64_t ticket;
    error cause;
  };
  device_memory(segment_source& source, limits l);
  ~device_memory();
  void give_back(owned_block& b) noexcept;  // with the lock
  bool give_back_kept() noexcept;           // with the lock
  void renew_block(owned_block& b);
  owned_block* wrap(memory_kind kind, segment whole, std::uint64_t address,
                    std::uint64_t bytes);  // with the lock
  memory_range counted(owned_block* b);

  mutable std::mutex lock_;
  segment_pools pools_;
  upload_blocks uploads_;
  block_seals seals_;
  std::uint64_t imported_bytes_ = 0, managed_bytes_ = 0;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> generation_{1};
  std::vector<loss> losses_;   // the last few
  std::vector<loss> workers_;  // also those without a loss of memory: things that only a worker has are lost with each
};

}  // namespace troupe
