// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <troupe/base/cat.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/slot_queue.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/request.hpp>
#include <troupe/worker/internal/hazards.hpp>
#include <troupe/worker/lane_policy.hpp>

/// What the application and a worker share: the layout of their common memory, of the records in the two rings, and of
/// the messages on the control socket.
namespace troupe::protocol {

/// Raised by every change to anything in this file. Both sides must agree.
inline constexpr std::uint32_t version = 14;

/// The state word of a slot: the newest of its requests that was decided about, and how. Started by the worker or
/// cancelled by the application, whoever is first; neither changes the word of a request that is newer than its own.
enum class phase : std::uint64_t { none = 0, started = 1, cancelled = 2 };
constexpr std::uint64_t slot_word(std::uint64_t ticket, phase p) noexcept {
  return ticket << 2 | static_cast<std::uint64_t>(p);
}
constexpr phase phase_of(std::uint64_t word) noexcept { return static_cast<phase>(word & 3); }
constexpr std::uint64_t ticket_of(std::uint64_t word) noexcept { return word >> 2; }

/// One entry of a lane's log: the slot of its n-th operation, and enough of the ticket to recognise a wrong one.
constexpr std::uint64_t log_word(std::uint64_t ticket, std::uint32_t slot) noexcept { return ticket << 20 | slot; }
constexpr std::uint32_t slot_of(std::uint64_t log) noexcept { return log & 0xfffff; }

/// Of a request that has a time limit and has started: what the device keeps it waiting for, and whether it shares the
/// call of the one before it in its lane. In one word.
class gate {
 public:
  constexpr gate() noexcept = default;
  constexpr explicit gate(std::uint64_t word) noexcept : word_(word) {}
  constexpr std::uint64_t word() const noexcept { return word_; }

  /// What the lane's log has at that place.
  constexpr void add(std::uint32_t lane, std::uint64_t log) noexcept {
    if (lanes() == 0 || static_cast<std::int64_t>((log & ticket_bits) - (word_ & ticket_bits)) > 0)
      word_ = (log & ticket_bits) | (word_ & ~ticket_bits);
    word_ |= std::uint64_t{1} << lane;
  }
  constexpr void add(const gate& other) noexcept {
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane)
      if ((other.lanes() >> lane & 1) != 0) add(lane, other.word_);
  }
  constexpr void share_a_call() noexcept { word_ |= sharing; }

  /// A bit each.
  constexpr std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(word_) & (sharing - 1); }
  /// Of all that it waits for in these lanes, for the request with this ticket.
  constexpr std::uint64_t youngest(std::uint64_t ticket) const noexcept {
    return ticket - (((ticket << ticket_shift) - (word_ & ticket_bits)) >> ticket_shift);
  }
  constexpr bool shares_a_call() const noexcept { return (word_ & sharing) != 0; }

 private:
  static constexpr std::uint32_t ticket_shift = 20, sharing = 1 << max_lanes;  // as in a log
  static constexpr std::uint64_t ticket_bits = ~std::uint64_t{0} << ticket_shift;
  static_assert(max_lanes < ticket_shift);
  std::uint64_t word_ = 0;
};

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
  std::atomic<std::uint64_t> free_bytes{0};  ///< of the device's memory, whoever uses the rest
  std::atomic<std::uint32_t> looks{0};       ///< how often it has; who asked it to sleeps here
};

/// What a worker that dies of a signal says about it with its last breath. The application believes none of it that it
/// can check.
struct crash_note {
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> signal{0};  ///< written last; 0: nothing was said
  std::uint32_t from_outside = 0;        ///< another process sent the signal
  std::uint32_t has_address =
      0;  ///< 1: it is known; 2: it is one that no memory has, and the processor does not tell it
  std::uint64_t address = 0;
  std::uint64_t ticket = 0;  ///< what the dying thread was working on; 0: it does not know
};

struct progress_page {
  /// The word that waits for answers sleep on. The worker adds 1 and wakes when there are sleepers.
  std::atomic<std::uint32_t> epoch{0};
  /// The reactor sleeps here while nobody waits for answers. The worker adds 1 and wakes when it goes idle with answers
  /// that nobody has been woken for.
  alignas(64) std::atomic<std::uint32_t> idle_epoch{0};
  /// Where the pump sleeps while nothing is sent.
  alignas(64) std::atomic<std::uint32_t> pump_sleeps{0};
  /// Where it ran last, as current_core(): a hint. Whoever runs there and spins keeps it from running.
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

/// An access_count of this: the request has more accesses than fit the record. In their place stands one whose `begin`
/// is the address of a list in host memory and whose `end` is how many it holds.
inline constexpr std::uint8_t listed_accesses = 255;
inline constexpr std::uint64_t most_listed_accesses = 1 << 20;

/// What a command's record says beside the request: not to be coalesced, that it touches memory which only the worker
/// of its generation has, that the application looks how long it runs, and its priority.
class command_flags {
 public:
  constexpr command_flags() noexcept = default;
  constexpr command_flags(bool alone, priority p, bool bound = false, bool timed = false) noexcept
      : bits_(static_cast<std::uint8_t>((alone ? 1 : 0) | (bound ? 2 : 0) | (timed ? 4 : 0) |
                                        static_cast<int>(p) << 3)) {}
  constexpr bool alone() const noexcept { return (bits_ & 1) != 0; }
  constexpr bool bound() const noexcept { return (bits_ & 2) != 0; }
  constexpr bool timed() const noexcept { return (bits_ & 4) != 0; }
  constexpr enum priority priority() const noexcept { return static_cast<enum priority>(bits_ >> 3); }
  constexpr bool sound() const noexcept { return bits_ >> 3 <= static_cast<int>(priority::low); }

 private:
  std::uint8_t bits_ = 0;
};

/// Before the payload of each command's record.
struct command_header {
  std::uint64_t opcode;
  std::uint32_t library;       ///< library_code of the actor that serves it
  std::uint32_t generation;    ///< of the device when it was checked, or found good for a later one
  std::uint64_t reports_seen;  ///< failures that its caller had been told of when it was checked
  std::uint32_t segments;      ///< memory messages that must have been carried out before
  std::uint8_t access_count;   ///< of those that follow; `listed_accesses`: one follows that says where they are
  command_flags flags;
  std::uint16_t payload_bytes;
};
static_assert(sizeof(command_header) == 32 && sizeof(memory_access) == 24);
inline constexpr std::size_t record_bytes =
    (sizeof(command_header) + max_operands * sizeof(memory_access) + max_payload_bytes + 63) / 64 * 64;

/// A failed or skipped operation, in the report ring. The texts follow: domain, text, name of the request that failed
/// first, and the chain as (ticket, name) pairs, each text with a 16-bit length in front.
struct report_header {
  std::uint64_t number;        ///< 1, 2, 3 …
  std::uint64_t ticket;        ///< of the request that is answered
  std::uint64_t cause_ticket;  ///< of the request that failed first
  std::int64_t code;
  std::uint32_t slot;
  std::uint8_t reaction;
  std::uint8_t chain;  ///< how many entries
  std::uint16_t reserved;
};
inline constexpr std::size_t max_report_bytes = 2048;

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
    auto up = [](std::uint64_t v) { return (v + 4095) / 4096 * 4096; };
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

/// Messages on the control socket. Each is one packet: this header, then text where there is any.
enum class message : std::uint32_t {
  hello = 1,       ///< application: worker_settings, the files of the channel and of the mailbox, and a socket on which
                   ///< it asks for memory
  ready = 2,       ///< worker: it can serve; the text lists "library backend version" lines
  failed = 3,      ///< worker: it cannot serve and ends; the text is why
  map = 4,         ///< application: memory to map, with its file
  unmap = 5,       ///< application: memory that is not used any more
  stop = 6,        ///< application: nothing is queued any more; end
  serve = 7,       ///< application: take over the mailbox
  ping = 8,        ///< application: say that you live
  pong = 9,        ///< worker: the answer to it
  loaded = 10,     ///< worker: an engine was loaded; the text is its library
  load = 11,       ///< application: load one, if you can, before you have to serve; the text is its library
  protect = 12,    ///< application: a place to be read-only from now on, or not; with a file: all that are, as
                   ///< `protected_place`s; no bytes: a request of the worker's own sees to it
  restarted = 13,  ///< worker: an engine was closed and opened anew; the text is its library
  look = 14,       ///< application: say in the progress page how much memory is free
};

struct worker_settings {
  std::uint32_t version;
  std::uint32_t capacity;
  std::uint32_t wait;  ///< wait_policy
  lane_policy lanes;
  bool coalesce;
  std::uint32_t pool;     ///< lanes for lane_policy::pooled
  std::uint32_t helpers;  ///< threads for slow work
  std::int32_t device;
  std::uint32_t parent;                        ///< process id that the worker must not outlive; 0: a thread of it
  std::uint64_t reserve_begin, reserve_bytes;  ///< the addresses that memory will be mapped in
  std::uint64_t device_bytes;                  ///< so many of them, the first, are for the device's own memory
  std::uint64_t inline_bytes;   ///< operations that touch at most this much run on the pump when they can run at once
  std::int64_t order_limit_ns;  ///< one that takes longer to map memory, or to open a library, gives no sign of life
  std::uint64_t memory_limit;   ///< bytes that a process may have of its own; 0: no limit
  bool core_dumps;
  std::uint64_t cores[16];  ///< a bit for each that a process may run on; none: all
};

/// Where the worker with this process id leaves what the GPU was doing: both sides must agree. `stem` is in the
/// greeting; empty: nowhere.
inline std::string gpu_core_file(const std::string& stem, int worker) {
  return stem.empty() ? stem : cat(stem, worker, ".gpucore");
}

/// Memory messages are counted, over all workers of a device: `number` is how many there have been with this one.
struct memory_place {
  std::uint64_t address, bytes;
  std::uint32_t number;
  std::uint32_t read_only;  ///< 1: the worker may not write there
};
/// On the second socket, where an answer has its question's number. Device memory that is not the application's to
/// make: so many bytes, and the answer with their descriptor, or with an error's text. With a descriptor: whether it
/// can be opened. And memory of the worker's own.
enum class wanted : std::uint64_t {
  memory,
  managed,  ///< so many bytes; the answer is their address
  release,  ///< of managed memory at `address`; there is no answer
};
struct wanted_memory {
  wanted what;
  std::uint64_t bytes;
  std::uint64_t address;
  std::uint64_t number;
};
struct made_memory {
  std::uint32_t made;  ///< 1: the descriptor comes along, or the one that came can be opened, or `address` is right
  std::uint32_t reaction;
  std::uint64_t address;
  std::uint64_t number;
};
struct protected_place {
  std::uint64_t address, bytes;
};

struct service {
  std::uint64_t next_ticket;  ///< the mailbox from here on
  std::uint64_t last_report;  ///< the number of the last failure that was told
  std::uint32_t kept;         ///< so many of the mailbox's list come first
  std::uint32_t generation;   ///< what was checked in an earlier one may not read
  std::uint32_t segments;     ///< memory messages so far
};

struct control_message {
  message kind;
  std::uint32_t reaction;  ///< of failed
  union {
    worker_settings settings;  ///< of hello; the text is backend, engine folders and libraries, one per line
    memory_place memory;       ///< of map, unmap and protect
    service serving;           ///< of serve
  };
};

}  // namespace troupe::protocol
