// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

class memory_file;

enum class map_access : std::uint8_t { read_only, read_write };

struct mapped_range {
  std::byte* data = nullptr;
  std::size_t size = 0;
  bool reserved = false;  ///< true if the range is in an address_reservation, which keeps its addresses
  friend bool operator==(const mapped_range&, const mapped_range&) = default;
};

struct mapped_range_traits {
  using type = mapped_range;
  static constexpr mapped_range null{};
  static void close(const mapped_range& range) noexcept;
};

/// A memory file that is mapped in this process as a whole. A large one requests huge pages.
class mapping {
 public:
  mapping() noexcept = default;
  /// Maps the file where the kernel chooses or, if an address is given, exactly there. The address must be that of a
  /// page. Fails if something is mapped there already.
  static result<mapping> map(const memory_file& file, map_access access, std::uintptr_t address = 0);

  /// Replaces the mapping by one of another file of the same size. Threads that read it meanwhile see one of the files,
  /// and never fault.
  result<void> show(const memory_file& file);

  std::byte* data() const noexcept { return range_.get().data; }
  std::size_t size() const noexcept { return range_.get().size; }
  std::span<std::byte> bytes() const noexcept { return {data(), size()}; }
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(data()); }
  explicit operator bool() const noexcept { return static_cast<bool>(range_); }

 private:
  friend class address_reservation;
  explicit mapping(mapped_range range) noexcept : range_(range) {}

  unique_handle<mapped_range_traits> range_;
};

/// A range of addresses kept free for mappings, so that two processes can map the same file at the same address. Takes
/// no memory. An access outside of the mappings is a fault. Must outlive the mappings placed in it.
class address_reservation {
 public:
  address_reservation() noexcept = default;
  /// Reserves addresses where the kernel chooses or, if a base is given, exactly there. The base must be the address of
  /// a page. Fails if something is mapped there already.
  static result<address_reservation> reserve(std::size_t bytes, std::uintptr_t base = 0);
  /// Maps a file inside the reservation. The caller must not pass the place of another mapping, which would be
  /// replaced.
  result<mapping> place(const memory_file& file, map_access access, std::uintptr_t address) const;
  /// Makes the page at this address readable, as zeros, without using memory. It must not belong to a mapping.
  result<void> show_zeros(std::uintptr_t address) const;
  /// Ends `show_zeros`: accesses to the page fault again.
  void hide_zeros(std::uintptr_t address) const noexcept;
  /// Unmaps a mapping that was placed here. If `zeros`, its first page reads as zeros afterwards, and no access to it
  /// faults in between.
  void remove(mapping placed, bool zeros) const noexcept;
  /// Makes whole mapped pages read-only, or writable again.
  result<void> protect(std::uintptr_t address, std::size_t bytes, map_access access) const;

  std::uintptr_t base() const noexcept { return reinterpret_cast<std::uintptr_t>(range_.get().data); }
  std::size_t size() const noexcept { return range_.get().size; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_); }

 private:
  bool contains(std::uintptr_t address, std::size_t bytes) const noexcept;
  explicit address_reservation(mapped_range range) noexcept : range_(range) {}

  unique_handle<mapped_range_traits> range_;
};

}  // namespace troupe
