// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/result.hpp>
#include <troupe/base/unique_handle.hpp>
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

/// The addresses for the memory of a device, the same in all its workers. A worker process has an address space of its
/// own, so every device may use the same ones. Workers that are threads share this process's, the one resource here
/// that is global by nature: theirs is claimed, and given back when the worker has ended.
class region {
 public:
  region() noexcept = default;
  /// So many a device has at least, for what others have made, which counts against no limit of its own. They cost
  /// nothing but themselves; where they are limited (ulimit -v), 0.
  static std::uint64_t least_bytes(enum isolation isolation) noexcept;
  static result<region> claim(enum isolation isolation, std::uint64_t bytes);
  std::uint64_t begin() const noexcept { return begin_; }

 private:
  std::uint64_t begin_ = 0;
  unique_handle<region_traits> claimed_;
};

}  // namespace troupe
