// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/checked_count.hpp>
#include <troupe/base/round_up.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/command.hpp>
#include <troupe/protocol/crash_note.hpp>
#include <troupe/protocol/words.hpp>
#include <troupe/request/lane_policy.hpp>
#include <troupe/request/request.hpp>

/// The memory that the application and a worker share.
namespace troupe::protocol {

static_assert(most_requests <= slot_queue_region::most_slots);

/// Result cells: one per slot.
struct alignas(64) reply_cell {
  std::byte bytes[max_reply_bytes];
};

struct alignas(64) lane_counters {
  checked_count done;                                     ///< complete operations; on a GPU the GPU counts
  std::atomic<lane_purpose> purpose{lane_purpose::none};  ///< written before the worker is ready
  std::atomic<std::int32_t> priority{0};                  ///< of the stream, as the driver counts
  std::atomic<std::uint64_t> together{0};                 ///< operations that have shared a call
};

/// The amount of the device's memory that was free when the worker last asked.
struct free_memory {
  std::atomic<std::uint64_t> free_bytes{0};  ///< not used by this program or another
  std::atomic<std::uint32_t> looks{0};       ///< number of times the worker has looked; a thread that asked sleeps here
};

struct progress_page {
  /// Threads that wait for answers sleep here. If there is news for any of them, the worker adds 1 and wakes them.
  std::atomic<std::uint32_t> epoch{0};
  /// The reactor sleeps here while no thread waits for answers. The worker adds 1 and wakes it when it goes idle with
  /// answers that no thread was woken for.
  alignas(64) std::atomic<std::uint32_t> idle_epoch{0};
  /// The pump sleeps here while no request is sent.
  alignas(64) std::atomic<std::uint32_t> pump_sleeps{0};
  /// The core where the pump ran last, as current_core(): a hint. A thread that spins there keeps it from running.
  alignas(64) std::atomic<std::uint32_t> pump_core{0};
  alignas(64) lane_counters lanes[max_lanes];
  /// The number of reports that this worker has published: written after each, and before the operation counts as
  /// complete.
  alignas(64) checked_count reports;
  alignas(64) crash_note note;
  alignas(64) free_memory free;
  /// Written by the GPU when it is probed for this worker: the number of the question, and the number of probes that
  /// have completed since.
  alignas(64) std::atomic<std::uint64_t> probe{0};
  std::atomic<std::uint64_t> repeated{0};
};

/// Words that only the application writes and every worker may read.
struct application_page {
  std::atomic<std::uint32_t> sleepers{0};       ///< on `epoch`
  std::atomic<std::uint32_t> idle_sleepers{0};  ///< on `idle_epoch`
  /// The number of `sleepers` that wait for all news; the others wait for one request, see `view::wanted`.
  std::atomic<std::uint32_t> curious{0};
  /// The number of the serving worker's operations that the application has retired, so that the worker need not wake
  /// it for these.
  alignas(64) std::atomic<std::uint64_t> retired{0};
  /// The core that a thread that waited for an answer shared with the pump; 0: they ran on different cores. Threads of
  /// a worker that run there sleep instead of spinning.
  alignas(64) std::atomic<std::uint32_t> shared_core{0};
};

/// Words that the workers of a device write for each other and the application, in a file that outlives them.
struct workers_page {
  /// The number of times that a probe of the GPU was requested: by a worker after a fault that names no process, or by
  /// the application because of a request that runs for too long. All workers sleep here.
  std::atomic<std::uint32_t> questions{0};
  /// The number of times that an idle worker has received a question; it counts in `signs` once the GPU works.
  std::atomic<std::uint64_t> asked{0};
  /// The number of probes that the GPU has completed for an idle worker, which shows the others that it works.
  std::atomic<std::uint64_t> signs{0};

  /// The time for which a worker that was asked waits for the GPU, and the application waits for its sign.
  static constexpr std::int64_t longest_wait_ns = 10'000'000'000;
  static constexpr std::size_t bytes = 4096;
};

/// Writes the core only if it changes, because other threads read it all the time.
inline void note_core(std::atomic<std::uint32_t>& at, std::uint32_t core) noexcept {
  if (at.load(std::memory_order_relaxed) != core) at.store(core, std::memory_order_relaxed);
}

/// Notes that a thread waits for a request. If a later one in its slot is noted, it stays: the earlier one has ended.
inline void note_wanted(std::atomic<std::uint64_t>& at, std::uint64_t ticket) noexcept {
  std::uint64_t noted = at.load(std::memory_order_seq_cst);
  while (noted < ticket && !at.compare_exchange_weak(noted, ticket, std::memory_order_seq_cst)) {
  }
}

/// The layout of the two memory files of a device: the channel, one for each worker, which both sides write, and the
/// mailbox, which outlives workers and which only the application writes.
struct layout {
  std::uint32_t capacity;  ///< slots, a power of two
  std::uint64_t report_bytes;
  std::uint64_t page, slots, gates, cells, logs, reports, total;  ///< in the channel
  std::uint64_t application, wanted, queue, mailbox_total;        ///< in the mailbox

  static layout for_capacity(std::uint32_t capacity) noexcept {
    layout l{};
    l.capacity = capacity;
    const auto up = [](std::uint64_t bytes) { return round_up(bytes, 4096); };
    l.report_bytes = std::uint64_t{capacity < 64 ? 64 : capacity} * 512;
    l.page = 0;
    l.slots = up(sizeof(progress_page));
    l.gates = up(l.slots + 8 * std::uint64_t{capacity});
    l.cells = up(l.gates + 8 * std::uint64_t{capacity});
    l.logs = up(l.cells + sizeof(reply_cell) * std::uint64_t{capacity});
    l.reports = up(l.logs + 8 * std::uint64_t{capacity} * max_lanes);
    l.total = up(l.reports + ring_region::bytes_for(l.report_bytes));
    l.application = 0;
    l.wanted = up(sizeof(application_page));
    l.queue = up(l.wanted + 8 * std::uint64_t{capacity});
    l.mailbox_total = up(l.queue + slot_queue_region::bytes_for(capacity, record_bytes));
    return l;
  }
};

/// The parts of both files, mapped. A worker cannot write the mailbox.
struct view {
  layout at;
  std::byte* base = nullptr;
  std::byte* mailbox = nullptr;

  application_page& application() const noexcept {
    return *reinterpret_cast<application_page*>(mailbox + at.application);
  }
  /// Returns the ticket of the request in this slot that a sleeper waits for; other tickets mean nothing.
  std::atomic<std::uint64_t>& wanted(std::uint32_t slot) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(mailbox + at.wanted)[slot];
  }
  slot_queue_region queue() const noexcept {
    return {{mailbox + at.queue, slot_queue_region::bytes_for(at.capacity, record_bytes)}, at.capacity, record_bytes};
  }
  /// Returns where the pump sleeps.
  parking_ref pump() const noexcept { return parking_ref(page().pump_sleeps); }
  progress_page& page() const noexcept { return *reinterpret_cast<progress_page*>(base + at.page); }
  std::atomic<std::uint64_t>& slot(std::uint32_t i) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base + at.slots)[i];
  }
  std::atomic<std::uint64_t>& gate(std::uint32_t i) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base + at.gates)[i];
  }
  reply_cell& cell(std::uint32_t i) const noexcept { return reinterpret_cast<reply_cell*>(base + at.cells)[i]; }
  std::atomic<std::uint64_t>& log(std::uint32_t lane, std::uint64_t sequence) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(
        base + at.logs)[std::uint64_t{lane} * at.capacity + (sequence & (at.capacity - 1))];
  }
  std::span<std::byte> reports() const noexcept { return {base + at.reports, ring_region::bytes_for(at.report_bytes)}; }
  /// Prepares a channel whose memory is zeroed, before a worker has it.
  result<ring_region> format() const {
    for (lane_counters& lane : page().lanes) lane.done.store(0);
    page().reports.store(0);
    return ring_region::format(reports(), at.report_bytes);
  }
};

}  // namespace troupe::protocol
