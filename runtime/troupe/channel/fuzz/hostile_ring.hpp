// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <troupe/channel/ring.hpp>

namespace troupe::testing {

/// Lets the input play the other side, reader or writer, which writes anything to the ring's memory between calls of
/// this side. Aborts if a span that this side gets is outside the ring. The memory ends at an unmapped page.
class hostile_ring {
 public:
  explicit hostile_ring(std::span<const std::uint8_t> input) : input_(input), memory_(guarded()) {
    std::memset(memory_.data(), 0, memory_.size());
  }

  void run() {
    const std::uint64_t first_ticket = (byte() % 2 ? std::uint64_t{1} << (byte() % 64) : 1) + byte() % 16;
    auto region = ring_region::format(memory_, capacity, first_ticket);
    require(region.has_value(), "format refused valid memory");
    ring_reader reader(*region);
    ring_writer writer(*region);
    position_ = first_ticket - 1;
    while (!input_.empty()) {
      switch (byte() % 8) {
        case 0:
          scribble();
          break;
        case 1:
        case 2:
          forge_record();
          break;
        case 3:
          read(reader);
          break;
        case 4:
          look(reader);
          break;
        case 5:
          claim(writer);
          break;
        case 6:
          spoil_header();
          break;
        case 7:
          if (reader.prepare_park()) reader.cancel_park();
          writer.wake_if_sleeping();
          break;
      }
    }
    (void)ring_region::open(memory_);
  }

 private:
  static constexpr std::size_t capacity = 1024;
  static constexpr std::size_t header = 384;

  static std::span<std::byte> guarded() {
    static std::byte* const end = [] {
      auto* pages = static_cast<std::byte*>(::mmap(nullptr, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      require(pages != MAP_FAILED && ::mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE) == 0, "no memory");
      return pages + 2 * 4096;
    }();
    const std::size_t size = ring_region::bytes_for(capacity);
    return {end - size, size};
  }

  static void require(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "hostile_ring: %s\n", what);
    std::abort();
  }

  std::uint8_t byte() {
    if (input_.empty()) return 0;
    const std::uint8_t b = input_.front();
    input_ = input_.subspan(1);
    return b;
  }
  std::uint32_t half() { return byte() | byte() << 8 | byte() << 16 | static_cast<std::uint32_t>(byte()) << 24; }

  void scribble() {
    const std::size_t at = half() % capacity;
    for (std::size_t i = at, n = byte(); n > 0 && i < capacity; ++i, --n)
      memory_[header + i] = static_cast<std::byte>(byte());
  }

  // Writes a record that the reader accepts, or nearly so: the right stamp at the right position, with any size.
  void forge_record() {
    std::byte* granule = memory_.data() + header + position_ % (capacity / 64) * 64;
    const std::uint32_t size = byte() % 4 ? half() % 1100 : half();
    const std::uint32_t kind = static_cast<std::uint32_t>(byte()) << 24;
    const std::uint64_t stamp = position_ + 1;
    std::memcpy(granule + 8, &size, 4);
    std::memcpy(granule + 12, &kind, 4);
    std::memcpy(granule, &stamp, 8);
  }

  void spoil_header() {
    const std::size_t at = half() % header;
    for (std::size_t i = at; i < header && i < at + 9; ++i) memory_[i] = static_cast<std::byte>(byte());
  }

  bool inside(const std::byte* data, std::size_t bytes) const {
    return data >= memory_.data() + header && bytes <= capacity && data + bytes <= memory_.data() + memory_.size();
  }

  // Makes a call with the reader's own tail in the memory, and notes the tail that the call writes if it frees a
  // record.
  template <class Call>
  auto watched(Call call) {
    std::uint64_t spoilt, mark = position_;
    std::memcpy(&spoilt, memory_.data() + 128, 8);
    std::memcpy(memory_.data() + 128, &mark, 8);
    auto result = call();
    std::memcpy(&position_, memory_.data() + 128, 8);
    if (position_ == mark) std::memcpy(memory_.data() + 128, &spoilt, 8);
    return result;
  }

  void read(ring_reader& reader) {
    std::byte into[600];
    const std::size_t room = half() % (sizeof into + 1);
    const ring_record record = watched([&] { return reader.read({into, room}); });
    require(!record || (record.payload.data() == into && record.payload.size() <= room), "read left its buffer");
  }

  void look(ring_reader& reader) {
    const ring_record record = watched([&] {
      const ring_record r = reader.peek();
      if (r) {
        require(inside(r.payload.data(), r.payload.size()), "peek left the ring");
        unsigned sum = 0;
        for (std::byte b : r.payload) sum += static_cast<unsigned>(b);
        sink_ = sum;
        spoil_header();  // after the size was read, so it must have no effect
        forge_record();
      }
      reader.pop();
      return r;
    });
    require(record.status != read_status::too_small, "peek needs no room");
  }

  void claim(ring_writer& writer) {
    const ring_claim claim = writer.claim(half() % 700);
    if (!claim) return;
    require(inside(claim.data, claim.bytes), "claim left the ring");
    std::memset(claim.data, byte(), claim.bytes);
    if (byte() % 4 == 0) {
      writer.skip(claim);
    } else {
      writer.publish(claim, half());
    }
  }

  std::span<const std::uint8_t> input_;
  std::span<std::byte> memory_;
  std::uint64_t position_ = 0;
  volatile unsigned sink_ = 0;
};

}  // namespace troupe::testing
