// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// The memory that the application shares with its workers: the mailbox, which outlives them and which they can only
/// read, and the serving worker's channel, always mapped at the same address. Also wakes threads that sleep on words of
/// this memory.
class shared_channel {
 public:
  /// Makes the mailbox, and a channel that no worker shares.
  result<void> create(std::uint32_t capacity);
  /// Returns true if the memory exists; false also in a child of the process that opened the device, which does not
  /// have it.
  bool exists() const noexcept { return view_.base != nullptr && !home_.left(); }
  const protocol::view* operator->() const noexcept { return &view_; }
  const protocol::view& view() const noexcept { return view_; }
  const memory_file& mailbox_file() const noexcept { return mailbox_file_; }
  /// Returns the memory that the workers share with each other.
  const memory_file& workers_file() const noexcept { return workers_file_; }
  const protocol::workers_page& workers() const noexcept {
    return *reinterpret_cast<const protocol::workers_page*>(workers_memory_.data());
  }
  /// Asks the idle workers to probe the GPU: see protocol::workers_page.
  void ask_workers() const noexcept;

  slot_queue_writer& commands() noexcept { return *commands_; }
  const slot_queue_writer& commands() const noexcept { return *commands_; }
  /// Returns the largest ticket so far; 0 before the first request.
  std::uint64_t newest_ticket() const noexcept { return commands_ ? commands_->newest_ticket() : 0; }

  /// Waits until all requests with a ticket are published, which their senders do right after they have claimed it.
  /// Returns the newest ticket.
  std::uint64_t await_published() const noexcept;

  /// Initializes the channel of a new worker.
  result<void> prepare(const memory_file& channel) const;
  /// Maps another worker's channel in place of the current one. Wakes all threads that sleep on words of the old
  /// channel.
  result<void> show(std::shared_ptr<const memory_file> channel);

  /// Wakes the threads that sleep on the epoch.
  void wake_waiters() const noexcept;
  /// Wakes the reactor if it sleeps on `idle_epoch`.
  void wake_reactor() const noexcept;
  /// Returns true if the calling thread runs on the core where the worker's pump ran last: the pump cannot run there
  /// while this thread spins. The worker's core is a hint. If it is wrong, this thread spins in vain, or does not spin.
  bool shares_core() const noexcept;

 private:
  const process_home home_;
  mapping channel_memory_, mailbox_memory_, workers_memory_;
  memory_file mailbox_file_, workers_file_;
  protocol::view view_;
  std::optional<slot_queue_writer> commands_;
  std::shared_ptr<const memory_file> shown_;
};

}  // namespace troupe
