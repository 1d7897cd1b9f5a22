// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <troupe/channel/ring.hpp>

namespace troupe::testing {

/// The memory of exactly one ring.
class ring_memory {
 public:
  explicit ring_memory(std::size_t capacity)
      : size_(ring_region::bytes_for(capacity)),
        data_(static_cast<std::byte*>(::operator new(size_, std::align_val_t{128}))) {
    std::memset(data_, 0xee, size_);
  }
  ring_memory(const ring_memory&) = delete;
  ring_memory& operator=(const ring_memory&) = delete;
  ~ring_memory() { ::operator delete(data_, std::align_val_t{128}); }

  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  /// Returns the granule with this index.
  std::byte* granule(std::size_t index) const noexcept { return data_ + ring_region::bytes_for(0) + index * 64; }
  void put_word(std::byte* at, std::uint64_t value) const noexcept { std::memcpy(at, &value, sizeof value); }
  void put_half(std::byte* at, std::uint32_t value) const noexcept { std::memcpy(at, &value, sizeof value); }
  /// Returns the place of the tail that the reader publishes for the writer.
  std::byte* tail() const noexcept { return data_ + 128; }

 private:
  std::size_t size_;
  std::byte* data_;
};

/// A ring with both ends in this process.
struct local_ring {
  explicit local_ring(std::size_t capacity, std::uint64_t first_ticket = 1)
      : memory(capacity),
        region(ring_region::format(memory.bytes(), capacity, first_ticket).value()),
        writer(region),
        reader(region) {}

  ring_memory memory;
  ring_region region;
  ring_writer writer;
  ring_reader reader;
};

/// Returns TROUPE_SEED if it is set, so that a failed random test can be repeated; otherwise `usual`.
inline std::uint64_t seed_or(std::uint64_t usual) {
  const char* given = std::getenv("TROUPE_SEED");
  return given ? std::strtoull(given, nullptr, 0) : usual;
}

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace troupe::testing
