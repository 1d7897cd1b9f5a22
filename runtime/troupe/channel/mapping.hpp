// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/base/unique_handle.hpp>

namespace troupe {

class memory_file;

enum class map_access : std::uint8_t { read_only, read_write };

struct mapped_range {
  std::byte* data = nullptr;
  std::size_t size = 0;
  bool reserved = false;  ///< lies in an address_reservation, which gets the addresses back
  friend bool operator==(const mapped_range&, const mapped_range&) = default;
};

struct mapped_range_traits {
  using type = mapped_range;
  static constexpr mapped_range null{};
  static void close(const mapped_range& range) noexcept;
};

/// A memory file seen in the address space of this process, all of it. Large ones ask for huge pages.
class mapping {
 public:
  mapping() noexcept = default;
  /// Maps where the kernel likes or, given an address (of whole pages), exactly there; refused when something is there
  /// already.
  static result<mapping> map(const memory_file& file, map_access access, std::uintptr_t address = 0);

  /// From now on shows another file, of the same size, at the same place; in one step for threads that look there.
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

/// A range of addresses kept free for mappings, so that two processes can map the same file at the same address.
/// Costs no memory; touching a part without a mapping faults. Outlives the mappings placed in it.
class address_reservation {
 public:
  address_reservation() noexcept = default;
  /// Where the kernel likes or, given a base (of whole pages), exactly there; refused when something is there already.
  static result<address_reservation> reserve(std::size_t bytes, std::uintptr_t base = 0);
  /// Maps a file inside the reservation. Not where another mapping lives: it would be replaced.
  result<mapping> place(const memory_file& file, map_access access, std::uintptr_t address) const;
  /// Shows zeros in the page at this address, for reading only; they take no memory. Not where a mapping lives.
  result<void> show_zeros(std::uintptr_t address) const;
  /// The page at this address, which showed zeros, faults again.
  void hide_zeros(std::uintptr_t address) const noexcept;
  /// Ends a mapping that was placed here. `zeros`: its first page shows zeros from now on, in one step for threads that
  /// reads there, instead of faulting.
  void remove(mapping placed, bool zeros) const noexcept;
  /// What is mapped there, in whole pages, is for reading only from now on, or for writing as well.
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
