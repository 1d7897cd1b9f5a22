// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions count granules since the ring was made; they never wrap. The offset in the ring is position modulo
// granules.
//
// head (writer)  next position to claim            freed (writer) <= tail <= head <= freed + granules
// tail (reader)  next position to read             a record at position p is published when its stamp is p + 1, its
//                                                  ticket
//
// Why no other word is mistaken for a stamp: the reader reads only the first word of the granule at its tail, and that
// word is 0 or p + 1. Memory starts zeroed. While a granule is the second or a later one of a record, its first word
// holds bytes of the user, which may equal some later p + 1. So the reader clears the first word of every granule
// before it frees them. The writer acquires the tail that is released after that, so it finds these words cleared, and
// leaves each 0 until the next record that starts there is complete.
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/ring.hpp>

#include <bit>
#include <cstring>
#include <new>

namespace troupe {

struct ring_header {
  std::uint64_t magic;
  std::uint64_t capacity;
  alignas(128) std::atomic<std::uint64_t> tail;      // written by the reader
  alignas(128) std::atomic<std::uint32_t> sleeping;  // written by both, rarely
};

namespace {

constexpr std::uint64_t ring_magic = 0x31676e6972507254;   // "TrPring1"
constexpr std::uint32_t padding = std::uint32_t{1} << 31;  // in `kind`: not a record, only space to skip
constexpr std::size_t granule = ring_region::granule;

struct record_header {
  std::uint64_t stamp;
  std::uint32_t size;
  std::uint32_t kind;
};
static_assert(sizeof(record_header) == 16, "payload follows and is aligned to 16");
static_assert(sizeof(ring_header) == 384 && std::atomic<std::uint64_t>::is_always_lock_free);

record_header& header_at(std::byte* granule_start) noexcept { return *reinterpret_cast<record_header*>(granule_start); }

constexpr std::uint64_t granules_for(std::size_t payload) noexcept {
  return (sizeof(record_header) + payload + granule - 1) / granule;
}

// A seq_cst store, not release: the later load of the sleeping flag must not move before it (parking_ref, step W1).
void stamp(record_header& record, std::uint64_t position) noexcept {
  std::atomic_ref(record.stamp).store(position + 1, std::memory_order_seq_cst);
}

}  // namespace

std::size_t ring_region::bytes_for(std::size_t capacity) noexcept { return sizeof(ring_header) + capacity; }

// Half the capacity: a record that does not fit before the end of the ring also takes the rest there, which is less
// than its size.
std::size_t ring_region::largest_record() const noexcept { return capacity() / 2 - sizeof(record_header); }

ring_region::ring_region(ring_header* header, std::uint64_t granules) noexcept
    : header_(header), data_(reinterpret_cast<std::byte*>(header) + sizeof(ring_header)), granules_(granules) {}

namespace {

result<void> check_region(std::span<std::byte> memory, std::size_t capacity) {
  if (!std::has_single_bit(capacity) || capacity < ring_region::least_capacity || capacity > ring_region::most_capacity)
    return error(reaction::caller_bug, "channel",
                 cat("ring capacity is ", capacity, "; expected a power of two from ", ring_region::least_capacity,
                     " to ", ring_region::most_capacity));
  if (memory.size() < ring_region::bytes_for(capacity))
    return error(reaction::caller_bug, "channel",
                 cat("ring memory has ", memory.size(), " bytes; expected at least ", ring_region::bytes_for(capacity),
                     " for a capacity of ", capacity));
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(ring_header) != 0)
    return error(reaction::caller_bug, "channel", "ring memory does not begin at a multiple of 128 bytes: align it");
  return {};
}

}  // namespace

result<ring_region> ring_region::format(std::span<std::byte> memory, std::size_t capacity, std::uint64_t first_ticket) {
  TROUPE_TRY(check_region(memory, capacity));
  if (first_ticket == 0)
    return error(reaction::caller_bug, "channel", "first ticket of a ring is 0; expected at least 1");
  std::memset(memory.data(), 0, bytes_for(capacity));
  auto* header = new (memory.data()) ring_header{};
  header->magic = ring_magic;
  header->capacity = capacity;
  header->tail.store(first_ticket - 1, std::memory_order_release);
  return ring_region(header, capacity / granule);
}

result<ring_region> ring_region::open(std::span<std::byte> memory) {
  if (memory.size() < sizeof(ring_header))
    return error(reaction::caller_bug, "channel",
                 cat("ring memory has ", memory.size(), " bytes; expected at least ", sizeof(ring_header)));
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(ring_header) != 0)
    return error(reaction::caller_bug, "channel", "ring memory does not begin at a multiple of 128 bytes: align it");
  auto* header = reinterpret_cast<ring_header*>(memory.data());
  if (std::atomic_ref(header->magic).load(std::memory_order_relaxed) != ring_magic)
    return error(reaction::fatal, "channel",
                 "the memory holds no ring of this version: application and worker must be from one build");
  const std::uint64_t capacity = std::atomic_ref(header->capacity).load(std::memory_order_relaxed);
  TROUPE_TRY(check_region(memory, capacity));
  return ring_region(header, capacity / granule);
}

// ---- writer

ring_writer::ring_writer(const ring_region& region) noexcept
    : region_(region),
      parking_(region.header_->sleeping),
      head_(region.header_->tail.load(std::memory_order_acquire)),
      freed_(head_.load(std::memory_order_relaxed)) {}

ring_claim ring_writer::claim(std::size_t bytes) noexcept {
  if (bytes > region_.largest_record()) return {.status = claim_status::too_large};
  const std::uint64_t need = granules_for(bytes);
  std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t start;
  std::uint64_t end;
  for (bool fresh = false;;) {
    const std::uint64_t before_the_end = region_.granules_ - (head & (region_.granules_ - 1));
    start = need <= before_the_end ? head : head + before_the_end;
    end = start + need;
    const std::uint64_t freed = freed_.load(std::memory_order_acquire);
    if (freed > head) {  // since `head` was loaded, other threads have claimed and the reader has read
      head = head_.load(std::memory_order_acquire);
      continue;
    }
    if (end - freed > region_.granules_) {
      if (fresh) return {.status = claim_status::full};
      if (!refresh_freed()) return {.status = claim_status::violation};
      fresh = true;
      head = head_.load(std::memory_order_acquire);
      continue;
    }
    // Release: a thread that sees this head must also see a `freed_` that justifies it, so that for every thread head
    // <= freed_ + granules.
    if (head_.compare_exchange_weak(head, end, std::memory_order_acq_rel, std::memory_order_acquire)) break;
    fresh = false;
  }
  if (start != head) {
    record_header& rest = header_at(region_.at(head));
    rest.size = static_cast<std::uint32_t>((start - head) * granule - sizeof(record_header));
    rest.kind = padding;
    stamp(rest, head);
  }
  record_header& record = header_at(region_.at(start));
  record.size = static_cast<std::uint32_t>(bytes);
  return {.status = claim_status::claimed,
          .ticket = start + 1,
          .data = reinterpret_cast<std::byte*>(&record) + sizeof(record_header),
          .bytes = bytes};
}

// Reads the shared tail once, and accepts it only if it could be that of a correct reader: it never moves back and
// never passes the head. `seen` is loaded first, with acquire: the thread that stored it had read that tail before, so
// a correct tail read now is not smaller. The head is loaded last, because a correct tail has passed only positions
// claimed before. Since head <= seen + granules by construction, the tail is also at least head - granules.
bool ring_writer::refresh_freed() noexcept {
  std::uint64_t seen = freed_.load(std::memory_order_acquire);
  const std::uint64_t tail = region_.header_->tail.load(std::memory_order_acquire);
  if (tail < seen || tail > head_.load(std::memory_order_relaxed)) return false;
  while (seen < tail &&
         !freed_.compare_exchange_weak(seen, tail, std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  return true;
}

void ring_writer::publish(const ring_claim& claim, std::uint32_t kind) noexcept {
  record_header& record = header_at(claim.data - sizeof(record_header));
  record.kind = kind & ~padding;
  stamp(record, claim.ticket - 1);
}

void ring_writer::skip(const ring_claim& claim) noexcept {
  record_header& record = header_at(claim.data - sizeof(record_header));
  record.kind = padding;
  stamp(record, claim.ticket - 1);
}

// ---- reader

ring_reader::ring_reader(const ring_region& region) noexcept
    : region_(region),
      parking_(region.header_->sleeping),
      position_(region.header_->tail.load(std::memory_order_acquire)) {}

ring_record ring_reader::peek() noexcept {
  peeked_ = 0;
  // Skips at most one lap of padding in a call, so that a producer that writes only padding cannot keep the reader
  // here.
  for (std::uint64_t stepped = 0; stepped < region_.granules_ && !violated_;) {
    std::byte* start = region_.at(position_);
    record_header& header = header_at(start);
    const std::uint64_t found = std::atomic_ref(header.stamp).load(std::memory_order_acquire);
    if (found == 0) return {};
    const std::uint32_t size = std::atomic_ref(header.size).load(std::memory_order_relaxed);
    const std::uint32_t kind = std::atomic_ref(header.kind).load(std::memory_order_relaxed);
    const std::uint64_t taken = granules_for(size);
    const std::uint64_t before_the_end = region_.granules_ - (position_ & (region_.granules_ - 1));
    if (found != position_ + 1 || taken > before_the_end) {
      violated_ = true;
      break;
    }
    if (kind & padding) {
      free(taken);
      stepped += taken;
      continue;
    }
    peeked_ = taken;
    return {
        .status = read_status::record, .kind = kind, .ticket = found, .payload = {start + sizeof(record_header), size}};
  }
  return {.status = violated_ ? read_status::violation : read_status::none};
}

void ring_reader::pop() noexcept {
  free(peeked_);
  peeked_ = 0;
}

ring_record ring_reader::read(std::span<std::byte> into) noexcept {
  ring_record record = peek();
  if (!record) return record;
  if (record.payload.size() > into.size())
    return {.status = read_status::too_small, .kind = record.kind, .ticket = record.ticket};
  if (!record.payload.empty()) std::memcpy(into.data(), record.payload.data(), record.payload.size());
  record.payload = into.first(record.payload.size());
  pop();
  return record;
}

void ring_reader::free(std::uint64_t granules) noexcept {
  if (granules == 0) return;
  for (std::uint64_t i = 0; i < granules; ++i)
    std::atomic_ref(header_at(region_.at(position_ + i)).stamp).store(0, std::memory_order_relaxed);
  position_ += granules;
  region_.header_->tail.store(position_, std::memory_order_release);
}

bool ring_reader::prepare_park() noexcept {
  parking_.prepare();
  if (!violated_ && std::atomic_ref(header_at(region_.at(position_)).stamp).load(std::memory_order_seq_cst) == 0)
    return true;
  parking_.cancel();
  return false;
}

}  // namespace troupe
