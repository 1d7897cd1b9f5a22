// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <troupe/base/time_span.hpp>
#include <troupe/device/waiting/control_loop.hpp>
#include <utility>

namespace troupe {

/// The control loop in the form in which the parts of one device use it. Posted jobs keep the device alive; timers fire
/// only while it lives. All functions but `watch` and `unwatch` may be called on any thread.
class device_loop {
 public:
  explicit device_loop(std::shared_ptr<control_loop> loop) noexcept : loop_(std::move(loop)) {}
  /// Must be called before anything is posted. Nothing is posted once the device is being destroyed.
  void set_device(std::weak_ptr<const void> device) noexcept { device_ = std::move(device); }

  /// Returns a reference that keeps the device alive; null while it is being destroyed.
  std::shared_ptr<const void> device() const noexcept { return device_.lock(); }

  std::int64_t now() const noexcept { return loop_->now(); }
  /// Returns the deadline on the loop's clock; INT64_MAX (none) for a device that was never opened.
  std::int64_t deadline_after(time_span t) const noexcept {
    return t.unlimited() || loop_ == nullptr ? INT64_MAX : t.after(now());
  }
  template <class F>
  void post(F f) const {
    if (auto device = device_.lock())
      troupe::post(*loop_, [device = std::move(device), f = std::move(f)]() mutable { f(); });
  }
  /// Calls `h.on_time(tag)` at `time_ns` if the device still exists then.
  void at(std::int64_t time_ns, control_loop::handler& h, std::uint64_t tag = 0) const {
    if (const auto device = device_.lock())
      loop_->at(time_ns, std::shared_ptr<control_loop::handler>(std::const_pointer_cast<void>(device), &h), tag);
  }
  /// Sleeps until `changed` is notified, or spuriously, or until `until_ns`. Returns false if `until_ns` has come.
  bool sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, std::int64_t until_ns) const {
    return loop_->sleep(changed, lock, until_ns);
  }

  /// May be called only on the loop. The device must live until `unwatch`.
  result<void> watch(int fd, control_loop::handler& h) const { return loop_->watch(fd, h); }
  void unwatch(int fd) const { loop_->unwatch(fd); }

 private:
  std::shared_ptr<control_loop> loop_;
  std::weak_ptr<const void> device_;
};

}  // namespace troupe
