// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/result.hpp>
#include <troupe/device/options.hpp>

namespace troupe {

struct region_traits {
  struct type {
    std::uint64_t begin, bytes;
    friend bool operator==(const type&, const type&) = default;
  };
  static constexpr type null{};
  static void close(type r) noexcept;
};

/// The addresses of a device's memory, the same in all its workers. Worker processes have address spaces of their own,
/// so all devices use the same addresses. Workers in threads share this process's address space, the only global
/// resource here: their addresses are claimed, and released when the worker has ended.
class region {
 public:
  region() noexcept = default;
  /// Returns the minimum number of addresses for a device, which leaves room for imported memory: that counts against
  /// no limit of the device. Addresses cost no memory. Returns 0 if the address space is limited (ulimit -v).
  static std::uint64_t least_bytes(enum isolation isolation) noexcept;
  static result<region> claim(enum isolation isolation, std::uint64_t bytes);
  std::uint64_t begin() const noexcept { return begin_; }

 private:
  std::uint64_t begin_ = 0;
  unique_handle<region_traits> claimed_;
};

}  // namespace troupe
