// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/lifecycle.hpp>
#include <troupe/device/recovery/quarantine/quarantine_guard.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/recovery/watchdog.hpp>
#include <troupe/device/sharing/memory_exchange.hpp>
#include <troupe/device/sharing/peer_copies.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/workers/hardware_view.hpp>
#include <troupe/device/workers/shared_segments.hpp>

namespace troupe {

/// The environment that a device is opened in.
struct device_environment {
  std::shared_ptr<control_loop> loop;
  worker_link_maker make_worker;
  /// True if the device has a reactor thread. Otherwise the owner must call `drive` whenever there may be answers, and
  /// the thread that completes an answer posts its continuations.
  bool has_reactor_thread = true;
  /// Replaces sleeping in calls that wait for the worker. Returns when `ready()` returns true or when `of` is answered.
  std::function<void(pending_core& of, const std::function<bool()>& ready)> wait_in_call = {};
  std::optional<staging_sizes> staging = {};  ///< nothing: the sizes that fit the engine
  /// Says where device_options::runtime_folder comes from, for the error if that folder has no worker.
  std::string runtime_origin = {};
  std::string engine_reason = {};  ///< see device_statistics
  log_sink log = {};
};

/// Everything behind a `device` handle: the parts of the device, and the state that they share. Each part is
/// constructed with the shared state and the few other parts that it calls; it has its own state and lock. Four kinds
/// of threads use a device: callers (mailbox), threads that wait for answers (completion), the reactor, which waits for
/// all other answers and posts all continuations, and the control loop (lifecycle), which never runs code of the
/// program.
class device_core final : public device_board, public std::enable_shared_from_this<device_core> {
 public:
  /// Opens a device. Never fails: if the device cannot be opened, returns one that has stopped with the error.
  static std::shared_ptr<device_core> open(const device_options& o, std::uint32_t index,
                                           const result<device_environment>& environment);
  ~device_core();
  device_core(const device_core&) = delete;

  /// Implement the functions of `device`.
  pending<void> close(bool now);
  pending<void> reset();
  pending<void> when_ready() { return when(lifecycle.ready()); }
  pending<void> when_stopped() { return when(lifecycle.stopped()); }
  /// Waits for the reactor thread to end, unless it is the calling thread. Precondition: the device has stopped.
  void join() noexcept { reactor.join(); }

  /// Returns the pointer that handles hold. When its last copy is destroyed, the device closes. Must be called once.
  std::shared_ptr<device_core> make_handle();
  /// Returns another copy of that pointer; null if no handle is left.
  std::shared_ptr<device_core> handle() noexcept;
  /// Returns a pointer to a part. It keeps the device alive, but not open.
  template <class Part>
  std::shared_ptr<Part> shared(Part& part) {
    return {shared_from_this(), &part};
  }
  /// Sleeps in a call that waits for the worker: calls `sleep`, or the environment's `wait_in_call` if it is set.
  template <class Ready, class Sleep>
  void sleep_in_call(pending_core& of, const Ready& ready, Sleep&& sleep) {
    if (wait_in_call_)
      wait_in_call_(of, ready);
    else
      sleep();
  }

  // In the order of construction. A part that is constructed with a later one does not use it before the device starts.
  const std::string engine_reason;  ///< see device_statistics
  shared_segments segments;
  troupe::completion completion;
  troupe::reactor reactor;
  worker_pool workers;
  hardware_view hardware;
  quarantine_guard quarantine;
  troupe::start_deadlines start_deadlines;
  troupe::watchdog watchdog;
  request_mailbox mailbox;
  fault_reporter faults;
  troupe::recovery recovery;
  troupe::lifecycle lifecycle;
  memory_exchange exchange;
  peer_copies peers;
  spin_experience spin_for_room;  ///< for uploads that wait until the worker has emptied chunks

 private:
  struct closes_with_handles;
  pending<void> when(milestone& reached);
  device_core(const device_options& o, std::uint32_t index, device_environment environment);
  result<void> set_up(const std::string& runtime_origin);
  result<protocol::greeting> make_greeting(std::uint64_t begin, std::uint64_t device_bytes,
                                           std::uint64_t host_bytes) const;

  std::function<void(pending_core&, const std::function<bool()>&)> wait_in_call_;
  std::weak_ptr<closes_with_handles> handles_;
};

}  // namespace troupe
