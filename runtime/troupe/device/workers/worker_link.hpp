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

/// The application's connection to one worker: sends messages to it, receives its messages, and sees its end.
/// `launched_worker` is the real one; the simulation has its own.
class worker_link {
 public:
  struct message {
    enum class kind : std::uint8_t { none, ready, failed, violated, gone, pong, loaded, restarted, remark };
    message::kind kind = message::kind::none;
    std::string text;
    reaction how = reaction::fatal;
  };

  worker_link() = default;
  worker_link(const worker_link&) = delete;
  /// Waits for the worker's end if it has not ended: see `has_ended`.
  virtual ~worker_link() = default;

  /// Sends the greeting. `workers`: what the workers of the device share with each other. Must come before all other
  /// messages.
  virtual result<void> greet(const protocol::greeting& hello, const memory_file& mailbox,
                             const memory_file& workers) = 0;
  /// Starts the worker. The calling thread must outlive it: see die_with_parent.
  virtual result<void> launch(const std::string& program, const std::vector<std::string>& environment) = 0;
  /// Messages about memory, in order. They do not wait for the worker; if it has received none for a second, they fail
  /// with retry_later. Any thread.
  virtual result<void> send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                std::uint32_t number, bool read_only) = 0;
  virtual result<void> send_unmap(std::uint64_t address, std::uint32_t number) = 0;
  /// Sends one range that becomes read-only, or writable again.
  virtual result<void> send_protect(const protocol::protected_place& place, std::uint32_t number, bool read_only) = 0;
  /// Sends all read-only ranges to a new worker.
  virtual result<void> send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) = 0;
  virtual result<void> send_serve(const protocol::service& s) = 0;
  virtual void send_stop() noexcept = 0;
  /// Sends a ping, which the worker answers with message::kind::pong. Does not wait: if there is no room, the ping is
  /// dropped.
  virtual void send_ping() noexcept = 0;
  /// Makes the worker write the amount of free memory to its channel. Does not wait. Returns false if the message was
  /// not sent. Any thread.
  virtual bool send_look() noexcept { return false; }
  virtual result<void> send_load(const std::string& library) = 0;
  virtual void kill() noexcept = 0;

  /// Returns the next message, or message::kind::none. Does not block.
  virtual message receive() = 0;
  /// Returns how the process ended; nothing while it runs, or if the worker is a thread.
  virtual std::optional<exit_status> ended() noexcept = 0;

  /// True from when it reports that it can serve until it fails or is killed. For threads that need a worker to ask.
  /// The supervisor does not use it: it has its own record (device_supervisor::worker).
  std::atomic<bool> ready{false};
  /// True if it missed a message about memory, so it must not serve.
  std::atomic<bool> missed_memory{false};

  /// Returns true if none of its threads can access memory any more, though its process may still exist. Precondition:
  /// it was killed.
  virtual bool is_quiesced() const noexcept { return false; }
  /// Kills a process and waits for its end until the deadline; returns true if it has ended. A thread has ended when
  /// its end of the socket is closed.
  virtual bool has_ended(std::int64_t deadline_ns) noexcept = 0;

  /// Returns the client that asks this worker for device memory; null if the application allocates it itself. It may
  /// outlive the link.
  virtual std::shared_ptr<allocation_client> allocator() const noexcept { return nullptr; }
  /// Returns the id that the supervisor gave it.
  virtual std::uint32_t id() const noexcept = 0;
  virtual const std::shared_ptr<const memory_file>& channel() const noexcept = 0;
  /// Returns a descriptor that is readable when there is a message.
  virtual int socket_fd() const noexcept = 0;
  /// Returns a descriptor that is readable when the process has ended; -1 for a thread.
  virtual int exit_fd() const noexcept = 0;
  virtual int pid() const noexcept = 0;
};

/// Makes the link to a worker that has yet to be launched. `addresses` is kept until the worker has ended. `id` is the
/// one that the supervisor gave it.
using worker_link_maker = std::function<result<std::unique_ptr<worker_link>>(
    std::uint32_t id, enum isolation isolation, std::shared_ptr<const region> addresses, std::uint64_t channel_bytes)>;

}  // namespace troupe
