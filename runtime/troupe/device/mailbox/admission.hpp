// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <troupe/base/linux/process_home.hpp>

namespace troupe {

/// Knows whether a device accepts requests and, if it does not, why. Thread-safe.
class admission {
 public:
  bool refusing(std::memory_order order = std::memory_order_acquire) const noexcept {
    return refusing_.load(order) || home_.left();
  }
  /// Returns true if this process is a child of the one that opened the device: then the device must not be used.
  bool left() const noexcept { return home_.left(); }
  /// Returns true if the device's destructor must do nothing: in a child, and after `abandon`.
  bool abandoned() const noexcept { return home_.left() || abandoned_.load(); }
  /// Returns the reason. Precondition: `refusing()`.
  error refusal() const {
    if (home_.left()) return process_home::refusal();
    const std::scoped_lock guard(lock_);
    return why_ ? *why_ : error(reaction::stopped, "device", "the device has stopped");
  }

  void refuse(const error& why) {
    const std::scoped_lock guard(lock_);
    why_ = why;
    refusing_.store(true, std::memory_order_seq_cst);
  }
  /// Refuses requests from now on, because the files of the device are lost.
  void abandon(const error& why) {
    abandoned_.store(true);
    refuse(why);
  }
  void accept() {
    const std::scoped_lock guard(lock_);
    why_.reset();
    refusing_.store(false, std::memory_order_seq_cst);
  }

 private:
  const process_home home_;
  std::atomic<bool> refusing_{false}, abandoned_{false};
  mutable std::mutex lock_;
  std::optional<error> why_;
};

}  // namespace troupe
