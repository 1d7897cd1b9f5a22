// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <troupe/actor/messages/envelope.hpp>

namespace troupe::detail {

/// A message that is never refused, because its memory was allocated in advance.
struct system_message {
  system_message* next = nullptr;
  std::unique_ptr<envelope> content;  ///< null: only wakes the actor for its next step
};

/// The messages to an actor that must not be refused: answers of piped pendings, and ends of children. Any number of
/// senders, one consumer; no lock and no limit.
///
/// Senders push onto a stack. The consumer takes the whole stack with one exchange and reverses it, so messages are
/// handled in the order in which they were pushed. `close` replaces the stack by an end mark in the same way. A push
/// compares before it replaces the top, and fails if it finds the mark. So the mark stays, and no message is lost
/// behind it.
class system_queue {
 public:
  system_queue() noexcept = default;
  system_queue(const system_queue&) = delete;
  system_queue& operator=(const system_queue&) = delete;

  /// Any thread: pushes a message. Returns false if the queue is closed; the message is then discarded.
  bool push(std::unique_ptr<system_message> message) noexcept;
  /// Any thread: returns true if a message was pushed that `pop` has not collected. Sequentially consistent: see
  /// `actor_core`.
  bool has_new() const noexcept { return newest_.load() != nullptr; }

  /// Consumer: returns the oldest message, or null.
  std::unique_ptr<system_message> pop() noexcept {
    if (!oldest_ && !has_new()) return nullptr;
    return take_oldest();
  }
  /// Consumer: discards all messages.
  void clear() noexcept {
    while (pop()) {
    }
  }
  /// Consumer: discards all messages, and all that are pushed later. `pop` must not be called afterwards.
  void close() noexcept;

 private:
  std::unique_ptr<system_message> take_oldest() noexcept;

  std::atomic<system_message*> newest_{nullptr};  // the top of the stack
  system_message* oldest_ = nullptr;              // the consumer's list of collected messages, oldest first
};

}  // namespace troupe::detail
