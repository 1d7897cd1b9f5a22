// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <vector>

namespace troupe {

/// The memory files of a device, mapped in its worker. Each is followed by a page that reads as zeros, unless another
/// file begins there: vector code of compilers reads a few bytes more than it needs, and would otherwise fault after
/// the last element of the last buffer. A write to that page is a fault, and so is a read beyond it.
class placed_memory {
 public:
  placed_memory() noexcept = default;
  explicit placed_memory(address_reservation addresses) noexcept : addresses_(std::move(addresses)) {}

  std::uintptr_t base() const noexcept { return addresses_.base(); }
  result<std::byte*> place(const memory_file& file, map_access access, std::uintptr_t address);
  void remove(std::uintptr_t address) noexcept;
  /// Returns the file's memory; null if no file begins at this address.
  std::byte* find(std::uintptr_t address) const noexcept;
  result<void> protect(std::uintptr_t address, std::size_t bytes, map_access access) const {
    return addresses_.protect(address, bytes, access);
  }

  template <class F>
  void for_each(F&& f) const {
    for (const mapping& m : all_) f(m.data());
  }

 private:
  static std::uintptr_t end_of(const mapping& m) noexcept;
  bool any_begins(std::uintptr_t address) const noexcept { return find(address) != nullptr; }

  address_reservation addresses_;  // outlives the mappings in it
  std::vector<mapping> all_;
};

}  // namespace troupe
