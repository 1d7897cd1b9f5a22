// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// The memory that the application shares with its workers: the mailbox, which outlives them and which they can only
/// read, and the channel of the worker that serves, at the same place whichever worker that is. And whom its words
/// wake.
class shared_channel {
 public:
  /// Both, for nobody yet.
  result<void> create(std::uint32_t capacity);
  bool exists() const noexcept { return view_.base != nullptr; }
  const protocol::view* operator->() const noexcept { return &view_; }
  const protocol::view& view() const noexcept { return view_; }
  const memory_file& mailbox_file() const noexcept { return mailbox_file_; }

  slot_queue_writer& commands() noexcept { return *commands_; }
  const slot_queue_writer& commands() const noexcept { return *commands_; }
  /// Requests accepted so far have no greater ticket; 0 before the first.
  std::uint64_t newest_ticket() const noexcept { return commands_ ? commands_->newest_ticket() : 0; }

  /// Makes the channel of another worker ready for it.
  result<void> prepare(const memory_file& channel) const;
  /// From now on that worker's is the one here. Wakes everybody who sleeps on words of the last one.
  result<void> show(std::shared_ptr<const memory_file> channel);

  /// Wakes the threads that sleep for news.
  void wake_waiters() const noexcept;
  /// Wakes the reactor where it sleeps until the worker is idle.
  void wake_reactor() const noexcept;
  /// Does this thread run where the worker did last? Then it cannot run there while this one spins. What the worker
  /// says of that is a hint: if it is wrong, this thread spins in vain, or not at all.
  bool shares_core() const noexcept;

 private:
  mapping channel_memory_, mailbox_memory_;
  memory_file mailbox_file_;
  protocol::view view_;
  std::optional<slot_queue_writer> commands_;
  std::shared_ptr<const memory_file> shown_;
};

}  // namespace troupe
