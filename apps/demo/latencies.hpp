// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace demo {

/// A histogram of answer times. Many threads add to it while others read. The error of a time is at most one part in
/// 64: the buckets between two powers of two have equal widths.
class latencies {
 public:
  static constexpr std::size_t buckets = 128 + 57 * 64;

  void add(std::int64_t ns) noexcept {
    counts_[bucket_of(static_cast<std::uint64_t>(ns < 0 ? 0 : ns))].fetch_add(1, std::memory_order_relaxed);
    std::int64_t most = most_.load(std::memory_order_relaxed);
    while (ns > most && !most_.compare_exchange_weak(most, ns, std::memory_order_relaxed)) {
    }
  }

  static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < 128) return ns;
    const int shift = std::bit_width(ns) - 7;
    return 64 * static_cast<std::size_t>(shift) + (ns >> shift);
  }
  /// Returns the time in the middle of a bucket.
  static constexpr double ns_of(std::size_t bucket) noexcept {
    if (bucket < 128) return static_cast<double>(bucket);
    const std::size_t shift = bucket / 64 - 1;
    return static_cast<double>((bucket - 64 * shift) << shift) +
           static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
  }

 private:
  friend class latency_counts;
  std::array<std::atomic<std::uint64_t>, buckets> counts_{};
  std::atomic<std::int64_t> most_{0};
};

/// The content of `latencies` at one moment, or the sum or difference of such contents.
class latency_counts {
 public:
  latency_counts() : counts_(latencies::buckets) {}
  explicit latency_counts(const latencies& of);

  std::uint64_t total() const noexcept;
  /// Returns the time within which this share (from 0 to 1) of the answers arrived; 0 if there were none.
  double seconds_at(double share) const noexcept;
  /// Returns the longest time. In a difference, it is that of the later content.
  double longest_seconds() const noexcept { return static_cast<double>(most_ns_) / 1e9; }

  latency_counts& operator+=(const latency_counts& o) noexcept;
  latency_counts& operator-=(const latency_counts& o) noexcept;

 private:
  std::vector<std::uint64_t> counts_;
  std::int64_t most_ns_ = 0;
};

}  // namespace demo
