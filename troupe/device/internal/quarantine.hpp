// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>

namespace troupe {

/// Requests that bring a worker down each time would use up all restarts. One that has done so twice is refused from
/// then on. It is known by its *signature*: everything it says except where in device memory its operands lie.
class quarantine {
 public:
  static constexpr int most_deaths = 2;

  /// What stands for a request: its payload, and the memory with what varies in size in it, which lies at
  /// `blob_address`. Addresses in [device_begin, device_end) do not count.
  struct described {
    std::uint64_t opcode;
    std::span<const std::byte> payload, blob;
    std::uint64_t blob_address, device_begin, device_end;
  };
  static std::uint64_t signature_of(const described& d) noexcept;

  /// Is anything refused at all? Cheap.
  bool any() const noexcept { return size_.load(std::memory_order_relaxed) != 0; }
  bool holds(std::uint64_t signature) const;
  /// A worker has died of this; true when it is refused from now on.
  bool blame(std::uint64_t signature);
  /// Everything is forgotten.
  void lift();
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, int> deaths_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace troupe
