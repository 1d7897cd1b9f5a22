// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <troupe/async/pending.hpp>
#include <troupe/device/asked.hpp>
#include <vector>

namespace troupe {

class answering;

/// A state that a device reaches once, successfully or with an error, and the pendings that wait for it.
class milestone {
 public:
  /// Completes all waiting pendings. Only the first outcome counts.
  void reach(const answering& now, const result<void>& outcome);
  /// Clears the outcome, so that the milestone can be reached again.
  void reset();
  /// Returns a pending of the outcome. A thread that waits for it drives the device, because a device that closes needs
  /// its requests answered.
  pending<void> watch(const std::shared_ptr<device_core>& core);
  /// Completes `to` with the outcome, at once or when it is known.
  void answer(const answering& now, ref<pending_state<void>> to);

 private:
  std::mutex lock_;
  std::optional<result<void>> outcome_;
  std::vector<ref<pending_state<void>>> waiters_;
  std::size_t prune_at_ = 16;
};

}  // namespace troupe
