// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/actor/messages/mailbox.hpp>
#include <utility>

namespace troupe::detail {

/// The message that an actor is handling: the mailbox's oldest, in its cell, or a system message that is owned here.
/// Only the turn's owner uses it.
class current_message {
 public:
  void refer_to(envelope& oldest) noexcept { message_ = &oldest; }
  void own(std::unique_ptr<envelope> message) noexcept {
    owned_ = std::move(message);
    message_ = owned_.get();
  }
  envelope& get() const noexcept { return *message_; }

  /// Destroys the message, which was handled, and frees its place in the mailbox.
  void release(mailbox& from) noexcept {
    if (std::exchange(message_, nullptr) != owned_.get()) return from.pop();
    owned_ = nullptr;
  }
  /// Gives up handling the message: destroys it if it is owned; one in the mailbox stays the oldest there.
  void put_back() noexcept {
    message_ = nullptr;
    owned_ = nullptr;
  }

  /// Leaves the message to a handler that runs on after its actor was killed: answers the message with `why` and
  /// removes it from the mailbox. It stays in its cell until `destroy_abandoned`.
  void abandon(const error& why, mailbox& from) noexcept {
    message_->abandon(why);
    if (!owned_) from.skip();
  }
  void destroy_abandoned() noexcept {
    if (owned_) {
      owned_ = nullptr;
    } else {
      std::destroy_at(message_);
    }
  }

 private:
  envelope* message_ = nullptr;
  std::unique_ptr<envelope> owned_;  // null: the message is in the mailbox
};

}  // namespace troupe::detail
