// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <troupe/base/clock.hpp>
#include <utility>

namespace troupe::jit {

/// The deadline of a compile, and whether the compile was cancelled. The query functions are thread-safe.
class compile_deadline {
 public:
  compile_deadline(std::int64_t deadline_ns = INT64_MAX, std::function<bool()> cancelled = {})
      : deadline_ns_(deadline_ns), cancelled_(std::move(cancelled)) {}

  std::int64_t deadline_ns() const noexcept { return deadline_ns_; }
  bool cancelled() const { return cancelled_ && cancelled_(); }
  bool timed_out() const noexcept { return now_ns() >= deadline_ns_; }
  bool over() const { return timed_out() || cancelled(); }

 private:
  std::int64_t deadline_ns_;
  std::function<bool()> cancelled_;
};

}  // namespace troupe::jit
