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

/// Runs everything that happens rarely on a device, one job at a time: workers that start and end, their messages,
/// deadlines. It is also the device's clock. `control_thread` is the real implementation; the simulation has its own.
class control_loop : public executor {
 public:
  /// An object that the loop calls when a watched file becomes readable or a timer is due.
  struct handler {
    virtual void on_readable(int fd) = 0;
    virtual void on_time(std::uint64_t tag) = 0;
    /// Called when the program has closed the loop's files, and so probably all others of the library. Files are no
    /// longer watched, and no timer fires again.
    virtual void on_descriptors_lost(const error&) {}

   protected:
    ~handler() = default;
  };

  /// Calls `h.on_readable(fd)` whenever `fd` is readable. May be called only on the loop. `h` must live until
  /// `unwatch`.
  virtual result<void> watch(int fd, handler& h) = 0;
  virtual void unwatch(int fd) = 0;
  /// Calls `h->on_time(tag)` at `deadline_ns` if `h` still exists then. Any thread.
  virtual void at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) = 0;
  /// Returns the time in nanoseconds, on the clock that all deadlines use. Any thread.
  virtual std::int64_t now() const noexcept = 0;
  /// Sleeps until `changed` is notified, or spuriously, or until `until_ns`. Returns false if `until_ns` has come. Any
  /// thread.
  virtual bool sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until_ns) {
    if (until_ns == INT64_MAX) return changed.wait(lock), true;
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(until_ns)};
    return changed.wait_until(lock, until) == std::cv_status::no_timeout;
  }

 protected:
  ~control_loop() = default;
};

}  // namespace troupe
