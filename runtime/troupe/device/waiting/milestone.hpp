// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <troupe/async/pending.hpp>
#include <troupe/device/asked.hpp>
#include <vector>

namespace troupe {

/// Something that a device reaches once, well or not, and those who wait for it.
class milestone {
 public:
  /// The first outcome counts. The caller keeps the continuations of what is answered: see device_core::answering.
  void reach(const result<void>& outcome);
  /// It can be reached again.
  void reset();
  /// A new answer, which the thread that waits for it helps to bring about: a device's end needs its requests answered.
  pending<void> watch(const std::shared_ptr<device_core>& core);
  /// Answers with the outcome, now or when there is one.
  void answer(ref<pending_state<void>> to);

 private:
  std::mutex lock_;
  std::optional<result<void>> outcome_;
  std::vector<ref<pending_state<void>>> waiters_;
  std::size_t prune_at_ = 16;
};

}  // namespace troupe
