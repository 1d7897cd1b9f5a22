// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/round_up.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/command.hpp>
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
  std::atomic<std::uint64_t> done{0};                     ///< operations complete; by the lane, on a GPU by the GPU
  std::atomic<lane_purpose> purpose{lane_purpose::none};  ///< written before the worker says that it is ready
  std::atomic<std::int32_t> priority{0};                  ///< of the stream, as the driver counts
};

/// What the worker found when it looked last.
struct device_room {
  std::atomic<std::uint64_t> free_bytes{0};  ///< of the device's memory, other programs use the rest
  std::atomic<std::uint32_t> looks{0};       ///< how often it has; who asked it to sleeps here
};

/// Whether a crash note names the address that was accessed.
enum class fault_address : std::uint32_t {
  unknown = 0,
  known = 1,
  no_such_memory = 2,  ///< one that no memory can have: the processor does not tell which
};

/// What a worker that dies of a signal says about it with its last breath. The application believes none of it that it
/// can check.
struct crash_note {
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> signal{0};  ///< written last; 0: nothing was said
  std::uint32_t from_outside = 0;        ///< another process sent the signal
  fault_address accessed = fault_address::unknown;
  std::uint64_t address = 0;  ///< when it is known
  std::uint64_t ticket = 0;   ///< what the dying thread was working on; 0: it does not know
};

struct progress_page {
  /// The word that waits for answers sleep on. The worker adds 1 and wakes when there are sleepers.
  std::atomic<std::uint32_t> epoch{0};
  /// The reactor sleeps here while nobody waits for answers. The worker adds 1 and wakes when it goes idle with answers
  /// that nobody has been woken for.
  alignas(64) std::atomic<std::uint32_t> idle_epoch{0};
  /// Where the pump sleeps while nothing is sent.
  alignas(64) std::atomic<std::uint32_t> pump_sleeps{0};
  /// Where it ran last, as current_core(): a hint. A thread that runs there and spins keeps it from running.
  alignas(64) std::atomic<std::uint32_t> pump_core{0};
  alignas(64) lane_counters lanes[max_lanes];
  alignas(64) crash_note last_words;
  alignas(64) device_room room;
};

/// What only the application writes, and every worker may read.
struct application_page {
  std::atomic<std::uint32_t> sleepers{0};       ///< on `epoch`
  std::atomic<std::uint32_t> idle_sleepers{0};  ///< on `idle_epoch`
  /// Operations of the worker that serves which the application has retired, so that the worker need not wake it for
  /// what it knows.
  alignas(64) std::atomic<std::uint64_t> retired{0};
  /// The core on which somebody has found himself who waited for an answer, and the pump too; 0: it was another one.
  /// Threads of a worker that run there let go of it instead of spinning.
  alignas(64) std::atomic<std::uint32_t> shared_core{0};
};

/// Written only when it changes: others read it all the time.
inline void note_core(std::atomic<std::uint32_t>& at, std::uint32_t core) noexcept {
  if (at.load(std::memory_order_relaxed) != core) at.store(core, std::memory_order_relaxed);
}

/// Where everything lies in the two memory files of a device: the channel, one for each worker, which both sides write,
/// and the mailbox, which outlives workers and which only the application writes.
struct layout {
  std::uint32_t capacity;  ///< slots, a power of two
  std::uint64_t report_bytes;
  std::uint64_t page, slots, gates, cells, logs, reports, total;  ///< in the channel
  std::uint64_t application, queue, mailbox_total;                ///< in the mailbox

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
    l.queue = up(sizeof(application_page));
    l.mailbox_total = up(l.queue + slot_queue_region::bytes_for(capacity, record_bytes));
    return l;
  }
};

/// The parts of both, mapped. In a worker the mailbox cannot be written.
struct view {
  layout at;
  std::byte* base = nullptr;
  std::byte* mailbox = nullptr;

  application_page& application() const noexcept {
    return *reinterpret_cast<application_page*>(mailbox + at.application);
  }
  slot_queue_region queue() const noexcept {
    return {{mailbox + at.queue, slot_queue_region::bytes_for(at.capacity, record_bytes)}, at.capacity, record_bytes};
  }
  /// Where the pump sleeps.
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
};

}  // namespace troupe::protocol
