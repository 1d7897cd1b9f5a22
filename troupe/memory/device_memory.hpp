// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <span>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/memory/arena.hpp>
#include <troupe/memory/quota.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

enum class memory_kind : std::uint8_t {
  device,  ///< seen by the worker only
  host,    ///< seen by the application too
  sent,    ///< the same, but workers can only read it; counts as host memory
};

/// The address of a segment is a multiple of this, and so is its size.
inline constexpr std::uint64_t segment_alignment = std::uint64_t{2} << 20;

/// Memory that has been made and that the worker maps, or will before it needs it.
struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;         ///< where the application has it mapped; not with memory_kind::device
  std::shared_ptr<const void> keep;  ///< what must live as long as any of its blocks
};

/// Makes memory for a device. Called under the lock of the device's memory, except where something else is said.
class segment_source {
 public:
  /// What a segment of so many bytes is made of, where that takes its time. Called without the lock, by one thread at a
  /// time. `after_release`: segments were given back just now, and it is worth waiting until the system has them.
  /// `retry_later` with the code ETIMEDOUT: nobody answered; without it, there is too little of something.
  virtual result<file_descriptor> prepare(memory_kind, std::uint64_t, bool after_release) {
    (void)after_release;
    return file_descriptor();
  }
  /// A new segment of at least `bytes`.
  virtual result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) = 0;
  /// Memory that another device has, or that two devices share, where the workers of this one see it.
  virtual result<segment> attach(memory_kind, std::uint64_t, file_descriptor, bool) {
    return error(reaction::unsupported, "memory", "this memory cannot be shared with other devices");
  }
  /// The segment is not used any more.
  virtual void shrink(memory_kind kind, const segment& s) noexcept = 0;
  /// From now on these bytes are read-only in every worker, and in those to come; or not any more. One worker does so
  /// by itself, at the place of that request in its order: `by`, 0: none.
  virtual void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, std::uint32_t by) noexcept = 0;
  /// Requests accepted so far have no greater ticket, later ones have; 0 before the first. May be called without the
  /// lock.
  virtual std::uint64_t last_ticket() const noexcept = 0;

 protected:
  ~segment_source() = default;
};

/// The memory of one device, kept by the application: blocks, their accounting, and which of their bytes are stale.
/// Thread safe. Lives until it is abandoned and its last block has come back.
class device_memory final : public memory_owner {
  struct owned_block;

 public:
  struct limits {
    std::uint64_t device_bytes;
    std::uint64_t host_bytes;
    std::uint64_t seal_granule = 4096;  ///< what the engine can make read-only; a power of two
    bool seals_segments = false;        ///< only whole segments can be made read-only
  };

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
  /// For the statistics: whoever asked gets nothing, also after a second try.
  void count_failure(memory_kind kind) noexcept;
  block_ref failed_buffer(std::uint64_t bytes, error cause) override;
  /// The device turned out to have so much.
  void set_device_limit(std::uint64_t bytes) noexcept;
  /// Gives unused segments back to the system; answers how many bytes.
  std::uint64_t trim();
  /// `host` and `sent` together are one.
  memory_statistics statistics(memory_kind kind) const;

  /// What a seal, or its end, covers in the worker.
  struct seal_request {
    std::uint64_t bytes;   ///< from the block's address on; 0: there is nothing to do
    std::uint32_t number;  ///< for `end_seal`
  };
  /// `all` is to be sealed: from now on nobody may write it. Refused unless it is all of a block that can be.
  result<seal_request> begin_seal(const memory_range& all);
  /// The worker has sealed it, or never will. Too late if it was unsealed meanwhile. `by`: see segment_source::protect.
  void end_seal(block& b, std::uint32_t number, bool done, std::uint32_t by = 0) noexcept;
  /// From now on a fault takes it along like any other.
  result<seal_request> begin_unseal(const memory_range& all);
  /// The request is in the mailbox, so that who writes later comes later; or it was refused (0), and nothing has
  /// changed.
  void end_unseal(block& b, std::uint64_t ticket, std::uint32_t by = 0) noexcept;
  /// It was not run, or not to its end: the next worker cannot rely on the one that was to do it.
  void unseal_was_lost(block& b) noexcept;
  /// A descriptor of memory with this block in it is given out, so that others may write it for as long as it lives. It
  /// cannot be sealed from now on; refused when it is, or is about to be, or when others that may be sealed lie in the
  /// same segment.
  result<void> begin_export(block& b);
  /// This program gets an address through which it can write the block, past all workers. Until it has let go of it,
  /// the block cannot be sealed. False: it is, or is about to be, so the address is to be for reading.
  bool begin_address(block& b) noexcept;
  void end_address(block& b) noexcept;
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

    /// From now on whoever looks whether the block has marks finds that it may. To be called for each that `fails` may
    /// be called for, and before looking who else writes it: who is not seen then, sees this.
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
  struct mark;
  struct pool;
  struct loss {
    std::uint64_t generation;  ///< blocks of earlier ones are concerned
    std::uint64_t ticket;
    error cause;
  };
  device_memory(segment_source& source, limits l);
  ~device_memory();
  bool grow(pool& p, std::unique_lock<std::mutex>& guard, std::uint64_t bytes, std::optional<error>& why);
  std::uint64_t release_idle(pool& p);
  std::uint64_t release_idle(memory_kind kind);  // of all pools that share its limit
  pool& pool_for(memory_kind kind, bool sealable) const noexcept;
  bool has_single_blocks(const pool& p) const noexcept;  // one in each segment
  std::span<const std::unique_ptr<pool>> pools_of(memory_kind kind) const noexcept;
  std::uint64_t used_bytes(memory_kind kind) const noexcept;
  static std::optional<error> cause_among(const owned_block& b, std::uint64_t begin, std::uint64_t end,
                                          std::uint64_t ticket);
  void renew_block(owned_block& b);
  owned_block* wrap(memory_kind kind, segment whole, std::uint64_t address,
                    std::uint64_t bytes);  // with the lock
  memory_range counted(owned_block* b);
  result<owned_block*> whole(const memory_range& all, const char* what) const;
  void protect(owned_block& b, bool read_only, std::uint32_t by = 0) noexcept;

  mutable std::mutex lock_;
  segment_source* source_;                      // null once abandoned
  std::array<std::unique_ptr<pool>, 4> pools_;  // device memory that can be sealed, other, host, sent
  const std::uint64_t seal_granule_;
  const bool seals_segments_;
  bool growing_ = false;  // somebody prepares a segment, without the lock
  std::condition_variable grown_;
  std::uint64_t high_water_[2] = {};  // of device and host memory
  std::uint64_t sealed_bytes_ = 0, imported_bytes_ = 0, managed_bytes_ = 0;
  std::uint64_t blocks_ = 0;
  std::atomic<std::uint64_t> generation_{1};
  std::vector<loss> losses_;   // the last few
  std::vector<loss> workers_;  // the same, with those that lost no memory: what only a worker holds goes with each
};

}  // namespace troupe
