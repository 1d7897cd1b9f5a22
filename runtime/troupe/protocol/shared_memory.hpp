// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/numbers/checked_count.hpp>
#include <troupe/base/numbers/round_up.hpp>
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

/// The memory for the reply of the request in a slot.
struct alignas(64) reply_cell {
  std::byte bytes[max_reply_bytes];
};

struct alignas(64) lane_counters {
  checked_count done;                                     ///< completed operations; on a GPU the GPU writes the count
  std::atomic<lane_purpose> purpose{lane_purpose::none};  ///< written before the worker is ready
  std::atomic<std::int32_t> priority{0};                  ///< priority of the lane's stream, as the driver counts
  std::atomic<std::uint64_t> together{0};                 ///< operations that shared a call with another one
};

/// The amount of the device's memory that was free when the worker last asked.
struct free_memory {
  std::atomic<std::uint64_t> free_bytes{0};  ///< bytes that neither this program nor another one uses
  std::atomic<std::uint32_t> looks{
      0};  ///< number of times that the worker has asked; a thread that waits for the figure sleeps on it
};

struct progress_page {
  /// The word on which threads that wait for answers sleep. If there is news for any of them, the worker adds 1 and
  /// wakes them.
  std::atomic<std::uint32_t> epoch{0};
  /// The word on which the reactor sleeps while no thread waits for answers. The worker adds 1 and wakes the reactor
  /// when it becomes idle while there are answers for which it has woken no thread.
  alignas(64) std::atomic<std::uint32_t> idle_epoch{0};
  /// The word on which the pump sleeps while there are no requests.
  alignas(64) std::atomic<std::uint32_t> pump_sleeps{0};
  /// The core on which the pump ran last, as current_core() counts: a hint. A thread that spins on that core keeps the
  /// pump from running.
  alignas(64) std::atomic<std::uint32_t> pump_core{0};
  alignas(64) lane_counters lanes[max_lanes];
  /// The number of reports that this worker has published. Written after each report, and before its operation counts
  /// as complete.
  alignas(64) checked_count reports;
  alignas(64) crash_note note;
  alignas(64) free_memory free;
  /// Words that the GPU writes when it is probed for this worker: `probe` is the number of the question, `repeated`
  /// counts the probes repeated since.
  alignas(64) std::atomic<std::uint64_t> probe{0};
  std::atomic<std::uint64_t> repeated{0};
};

/// Words that the application alone writes, and that every worker may read.
struct application_page {
  std::atomic<std::uint32_t> sleepers{0};       ///< threads that sleep on `epoch`
  std::atomic<std::uint32_t> idle_sleepers{0};  ///< threads that sleep on `idle_epoch`
  /// The number of `sleepers` that wait for any news. Each of the others waits for one request: see `view::wanted`.
  std::atomic<std::uint32_t> curious{0};
  /// The number of the serving worker's operations that the application has retired. The worker need not wake the
  /// application for these.
  alignas(64) std::atomic<std::uint64_t> retired{0};
  /// The core on which both the pump and a thread that waited for an answer ran; 0: they ran on different cores.
  /// Threads of a worker on that core sleep instead of spinning.
  alignas(64) std::atomic<std::uint32_t> shared_core{0};
};

/// Words that the workers of a device write, for each other and for the application, in a file that outlives them.
struct workers_page {
  /// The number of times that a probe of the GPU was requested: by a worker after a fault that names no process, or by
  /// the application because a request runs for too long. All workers sleep on this word.
  std::atomic<std::uint32_t> questions{0};
  /// The number of times that an idle worker has received a question. The worker adds 1 to `signs` when the GPU has
  /// completed its probe.
  std::atomic<std::uint64_t> asked{0};
  /// The number of probes that the GPU has completed for idle workers: signs for the others that the GPU works.
  std::atomic<std::uint64_t> signs{0};

  /// The time for which a worker that received a question waits for the GPU, and the application waits for a sign.
  static constexpr std::int64_t longest_wait_ns = 10'000'000'000;
  static constexpr std::size_t bytes = 4096;
};

/// Writes the core only if it changes, because other threads read the word all the time.
inline void note_core(std::atomic<std::uint32_t>& at, std::uint32_t core) noexcept {
  if (at.load(std::memory_order_relaxed) != core) at.store(core, std::memory_order_relaxed);
}

/// Notes that a thread waits for a request. Keeps the ticket of a later request in the same slot, because the earlier
/// one has ended then.
inline void note_wanted(std::atomic<std::uint64_t>& at, std::uint64_t ticket) noexcept {
  std::uint64_t noted = at.load(std::memory_order_seq_cst);
  while (noted < ticket && !at.compare_exchange_weak(noted, ticket, std::memory_order_seq_cst)) {
  }
}

/// The layout of two kinds of memory files: a channel for each worker, which both sides write, and the device's
/// mailbox, which outlives workers and which only the application writes.
struct layout {
  std::uint32_t capacity;  ///< number of slots, a power of two
  std::uint64_t report_bytes;
  std::uint64_t page, slots, gates, cells, logs, reports, total;  ///< offsets in the channel, and its size
  std::uint64_t application, wanted, queue, mailbox_total;        ///< offsets in the mailbox, and its size

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

/// Access to the parts of a mapped channel and mailbox. A worker cannot write the mailbox.
struct view {
  layout at;
  std::byte* base = nullptr;
  std::byte* mailbox = nullptr;

  application_page& application() const noexcept {
    return *reinterpret_cast<application_page*>(mailbox + at.application);
  }
  /// Returns the ticket that a sleeping thread waits for in this slot. It is obsolete if the slot has another ticket.
  std::atomic<std::uint64_t>& wanted(std::uint32_t slot) const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(mailbox + at.wanted)[slot];
  }
  slot_queue_region queue() const noexcept {
    return {{mailbox + at.queue, slot_queue_region::bytes_for(at.capacity, record_bytes)}, at.capacity, record_bytes};
  }
  /// Returns the word on which the pump sleeps.
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
  /// Prepares a channel in zeroed memory. Must be called before a worker has it.
  result<ring_region> format() const {
    for (lane_counters& lane : page().lanes) lane.done.store(0);
    page().reports.store(0);
    return ring_region::format(reports(), at.report_bytes);
  }
};

}  // namespace troupe::protocol
