// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/answers/pending_state.hpp>
#include <troupe/async/cancellation.hpp>

namespace troupe::detail {

/// The answer of an ask. Cancelling it before the handler has begun answers it at once, and the handler never runs.
/// After that, a handler that is a task is asked to stop; other handlers are not affected.
template <class T>
class ask_state final : public pending_state<T> {
 public:
  /// Called before the handler runs. Returns false if the ask was cancelled.
  bool begin() noexcept {
    auto seen = progress::queued;
    return progress_.compare_exchange_strong(seen, progress::begun);
  }
  void forward_cancel_to(ref<pending_core> running) {
    struct forward final : cancel_slot::hook {
      explicit forward(ref<pending_core> to) noexcept : running(std::move(to)) {}
      void run() noexcept override { running->cancel(); }
      ref<pending_core> running;
    };
    hook_.install(std::make_unique<forward>(std::move(running)));
  }
  void cancel() noexcept override {
    auto seen = progress::queued;
    if (progress_.compare_exchange_strong(seen, progress::cancelled)) {
      this->complete(cancelled("the ask"));
    } else if (seen == progress::begun) {
      hook_.request();
    }
  }

 private:
  enum class progress : std::uint8_t { queued, begun, cancelled };
  std::atomic<progress> progress_{progress::queued};
  cancel_slot hook_;
};

}  // namespace troupe::detail
