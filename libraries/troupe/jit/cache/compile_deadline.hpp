// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <troupe/base/clock.hpp>
#include <utility>

namespace troupe::jit {

/// How long a compile may take, and whether anybody still wants it. Thread safe as far as the question is.
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
