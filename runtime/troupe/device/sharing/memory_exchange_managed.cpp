// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Managed memory, which exists only in the serving worker: see docs/managed-memory.md.
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/sharing/memory_exchange.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {
namespace {

// Accepts whole pages outside the addresses that the application has reserved for segments.
bool can_be_managed(std::uint64_t address, std::uint64_t bytes, const protocol::worker_settings& s) {
  return address % 4096 == 0 && address + bytes >= bytes &&
         (address + bytes <= s.reserve_begin || address >= s.reserve_begin + s.reserve_bytes);
}

// Releases the memory in the worker, if that worker still exists.
class held_by_worker {
 public:
  held_by_worker(std::shared_ptr<allocation_client> worker, std::uint64_t address) noexcept
      : worker_(std::move(worker)), address_(address) {}
  ~held_by_worker() { worker_->release_managed(address_); }
  held_by_worker(const held_by_worker&) = delete;

 private:
  const std::shared_ptr<allocation_client> worker_;
  const std::uint64_t address_;
};

}  // namespace

// Allocates managed memory. If the worker is replaced meanwhile, the memory belongs to an earlier generation and is
// lost.
result<memory_range> memory_exchange::make_managed(std::uint64_t bytes, const memory_quota& quota) {
  const std::int64_t deadline = board_.loop.deadline_after(board_.options.start_timeout);
  std::uint64_t seen = workers_.changes();
  while (board_.loop.now() < deadline) {
    if (board_.admission.refusing()) return board_.admission.refusal();
    serving_worker::worker_id serving = 0;
    std::uint64_t generation = 0;
    {
      const completion::lock guard(completion_);
      if (!board_.worker.over()) serving = board_.worker.id();
      generation = board_.memory.generation();
    }
    std::shared_ptr<allocation_client> allocator;
    {
      const auto guard = workers_.lock();
      if (worker_link* const link = workers_.find(serving); link != nullptr) allocator = link->allocator();
    }
    if (allocator) {
      const auto made = allocator->make_managed(bytes, deadline);
      if (made && !can_be_managed(*made, bytes, workers_.greeting().settings)) {
        completion_.report_violation("the address of managed memory");
        return error(reaction::context_lost, "memory",
                     "alloc_managed: the worker returned an impossible address, and was ended; try again");
      }
      if (made)
        return board_.memory.manage(*made, bytes, generation, quota,
                                    std::make_shared<held_by_worker>(allocator, *made));
      if (made.error().reaction() != reaction::context_lost) return made.error();
    }
    workers_.wait_for_change(seen, deadline);
  }
  return error(reaction::retry_later, "memory",
               "alloc_managed: no worker served within device_options::start_timeout; try again");
}

}  // namespace troupe
