// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/base/time_span.hpp>

namespace troupe {

/// Decides when the memory of a worker that ends after a fault may be used by the next one, although its process has
/// not ended: once none of its threads is left, and the copies that the GPU still makes for it must be done. For one
/// thread.
class early_handover {
 public:
  /// `copies_go_on`: how long copies may still be made once the threads are gone.
  void begin(std::uint32_t worker, time_span copies_go_on) noexcept {
    worker_ = worker;
    copies_go_on_ = copies_go_on;
    quiet_at_ns_ = 0;
  }
  /// Returns the worker, 0: none yet.
  std::uint32_t worker() const noexcept { return worker_; }
  /// Returns when to look again; nothing if the memory may be used.
  std::optional<std::int64_t> look_again_at(bool threads_are_gone, std::int64_t now_ns) noexcept {
    constexpr std::int64_t poll_interval_ns = 200'000;
    if (!threads_are_gone) return now_ns + poll_interval_ns;
    if (quiet_at_ns_ == 0) quiet_at_ns_ = copies_go_on_.after(now_ns);
    return now_ns < quiet_at_ns_ ? std::optional(quiet_at_ns_) : std::nullopt;
  }

 private:
  std::uint32_t worker_ = 0;
  time_span copies_go_on_;
  std::int64_t quiet_at_ns_ = 0;  // 0: threads are left
};

}  // namespace troupe
