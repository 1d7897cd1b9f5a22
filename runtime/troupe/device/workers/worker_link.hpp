// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/workers/allocation_client.hpp>
#include <troupe/device/workers/region.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// The application's connection to one worker: sends and receives messages, and detects the worker's end.
/// `launched_worker` is the real implementation; the simulation has its own.
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

  /// Sends the greeting, which must be the first message. `workers` is the file that the workers of the device share.
  virtual result<void> greet(const protocol::greeting& hello, const memory_file& mailbox,
                             const memory_file& workers) = 0;
  /// Starts the worker. The calling thread must outlive the worker: see die_with_parent.
  virtual result<void> launch(const std::string& program, const std::vector<std::string>& environment) = 0;
  /// Sends a message about memory, like the next functions, in the order of the calls. Does not wait for the worker;
  /// fails with retry_later if the worker has received no message for a second. Any thread.
  virtual result<void> send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                std::uint32_t number, bool read_only) = 0;
  virtual result<void> send_unmap(std::uint64_t address, std::uint32_t number) = 0;
  /// Sends a range that becomes read-only, or writable again.
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
  /// Returns how the process ended; nullopt while it runs, or if the worker is a thread.
  virtual std::optional<exit_status> ended() noexcept = 0;

  /// True from the worker's report that it can serve until it fails or is killed. For threads that need a worker for a
  /// question. The supervisor has its own record instead (device_supervisor::worker).
  std::atomic<bool> ready{false};
  /// True if the worker missed a message about memory, so that it must not serve.
  std::atomic<bool> missed_memory{false};

  /// Returns true if no thread of the worker can access memory any more, though its process may still exist.
  /// Precondition: the worker was killed.
  virtual bool is_quiesced() const noexcept { return false; }
  /// Kills a worker process and waits for its end until the deadline. Returns true if it has ended. A worker in a
  /// thread has ended when its end of the socket is closed.
  virtual bool has_ended(std::int64_t deadline_ns) noexcept = 0;

  /// Returns the client that asks this worker for device memory; null if the application allocates memory itself. The
  /// client may outlive the link.
  virtual std::shared_ptr<allocation_client> allocator() const noexcept { return nullptr; }
  /// Returns the id that the supervisor gave the worker.
  virtual std::uint32_t id() const noexcept = 0;
  virtual const std::shared_ptr<const memory_file>& channel() const noexcept = 0;
  /// Returns a descriptor that is readable when there is a message.
  virtual int socket_fd() const noexcept = 0;
  /// Returns a descriptor that is readable when the process has ended; -1 for a thread.
  virtual int exit_fd() const noexcept = 0;
  virtual int pid() const noexcept = 0;
};

/// Makes the link to a worker that is not launched yet. Keeps `addresses` until the worker has ended. `id` is the one
/// that the supervisor gave the worker.
using worker_link_maker = std::function<result<std::unique_ptr<worker_link>>(
    std::uint32_t id, enum isolation isolation, std::shared_ptr<const region> addresses, std::uint64_t channel_bytes)>;

}  // namespace troupe
