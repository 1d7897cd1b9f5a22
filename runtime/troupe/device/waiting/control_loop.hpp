// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <troupe/async/executor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

/// Where a device does everything that is rare, one thing at a time: workers starting and ending, messages from them,
/// deadlines. And its clock. `control_thread` is the real one; simulations have their own.
class control_loop : public executor {
 public:
  /// Called on the loop when a watched file becomes readable, or at a time.
  struct handler {
    virtual void on_readable(int fd) = 0;
    virtual void on_time(std::uint64_t tag) = 0;

   protected:
    ~handler() = default;
  };

  /// Only on the loop. The handler lives until `unwatch`.
  virtual result<void> watch(int fd, handler& h) = 0;
  virtual void unwatch(int fd) = 0;
  /// Calls `h->on_time(tag)` at `deadline_ns` if `h` still lives then. Thread safe.
  virtual void at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) = 0;
  /// Nanoseconds of the clock that all deadlines count in. Any thread.
  virtual std::int64_t now() const noexcept = 0;
  /// Sleeps until `changed` is notified, or without cause, or until that time; false: it has come. Any thread.
  virtual bool sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until_ns) {
    if (until_ns == INT64_MAX) return changed.wait(lock), true;
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(until_ns)};
    return changed.wait_until(lock, until) == std::cv_status::no_timeout;
  }

 protected:
  ~control_loop() = default;
};

}  // namespace troupe
