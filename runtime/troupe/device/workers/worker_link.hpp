// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/workers/allocation_client.hpp>
#include <troupe/device/workers/region.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// The application's hold on one worker: what it can be told, what it says, and how it ends. `launched_worker` is the
/// real one; simulations have their own.
class worker_link {
 public:
  struct news {
    enum class kind : std::uint8_t { none, ready, failed, gone, alive, loaded, restarted };
    news::kind kind = news::kind::none;
    std::string text;
    reaction how = reaction::fatal;
  };

  worker_link() = default;
  worker_link(const worker_link&) = delete;
  /// Waits for the end of a worker that has not ended: see `has_ended`.
  virtual ~worker_link() = default;

  /// Sends the greeting. First of all messages.
  virtual result<void> greet(const protocol::greeting& hello, const memory_file& mailbox) = 0;
  /// Starts the worker. On the thread that lives as long as it: see die_with_parent.
  virtual result<void> launch(const std::string& program, const std::vector<std::string>& environment) = 0;
  /// Memory messages, in order. Any thread. Waits for a second for a worker that is behind, then retry_later.
  virtual result<void> send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                std::uint32_t number, bool read_only) = 0;
  virtual result<void> send_unmap(std::uint64_t address, std::uint32_t number) = 0;
  /// One place.
  virtual result<void> send_protect(const protocol::protected_place& place, std::uint32_t number, bool read_only) = 0;
  /// All places that are read-only now, to a worker that knows of none.
  virtual result<void> send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) = 0;
  virtual result<void> send_serve(const protocol::service& s) = 0;
  virtual void send_stop() noexcept = 0;
  /// It answers with news::alive. Does not wait: where there is no room for it, it is dropped.
  virtual void send_ping() noexcept = 0;
  /// It looks how much memory is free, and tells in its channel. Does not wait. Any thread. False: it will not.
  virtual bool send_look() noexcept { return false; }
  virtual result<void> send_load(const std::string& library) = 0;
  virtual void kill() noexcept = 0;

  /// The next message, without blocking.
  virtual news receive() = 0;
  /// How a process ended; nothing while it runs or when it is a thread.
  virtual std::optional<exit_status> ended() noexcept = 0;

  /// It has said that it could serve, and has neither failed nor been killed since: for threads that look for a worker
  /// to ask. Which worker serves, the supervisor decides, by what it was told itself (device_supervisor::worker).
  std::atomic<bool> ready{false};
  /// It did not take a message about memory, so requests must not reach it.
  std::atomic<bool> missed_memory{false};

  /// Can nothing of it touch memory any more, though its process may be there yet? Asked of a process that was killed.
  virtual bool is_quiesced() const noexcept { return false; }
  /// Kills a process, and waits for its end until the deadline. A thread has ended when its end of the socket is
  /// closed.
  virtual bool has_ended(std::int64_t deadline_ns) noexcept = 0;

  /// Makes device memory, where the application cannot; null: it can. May outlive the link.
  virtual std::shared_ptr<allocation_client> maker() const noexcept { return nullptr; }
  /// The supervisor's.
  virtual std::uint32_t id() const noexcept = 0;
  virtual const std::shared_ptr<const memory_file>& channel() const noexcept = 0;
  /// Readable when there is a message.
  virtual int socket_fd() const noexcept = 0;
  /// Readable when the process has ended; -1 for a thread.
  virtual int exit_fd() const noexcept = 0;
  virtual int pid() const noexcept = 0;
};

/// Makes the link to a worker that is yet to be launched. `addresses` is kept until the worker has ended. `id` is the
/// supervisor's.
using worker_link_maker = std::function<result<std::unique_ptr<worker_link>>(
    std::uint32_t id, enum isolation isolation, std::shared_ptr<const region> addresses, std::uint64_t channel_bytes)>;

}  // namespace troupe
