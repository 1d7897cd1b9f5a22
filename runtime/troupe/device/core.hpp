// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/base/log.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/recovery/fault_reporter.hpp>
#include <troupe/device/recovery/lifecycle.hpp>
#include <troupe/device/recovery/quarantine_guard.hpp>
#include <troupe/device/recovery/recovery.hpp>
#include <troupe/device/recovery/watchdog.hpp>
#include <troupe/device/sharing/memory_exchange.hpp>
#include <troupe/device/sharing/peer_copies.hpp>
#include <troupe/device/waiting/device_events.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/workers/hardware_view.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <troupe/memory/copy_threads.hpp>
#include <troupe/memory/staging.hpp>

namespace troupe {

/// What a device gets from outside.
struct device_surroundings {
  std::shared_ptr<control_loop> loop;
  worker_link_maker make_worker;
  /// False: somebody calls `drive` whenever there may be answers, and the device has no thread of its own. Its
  /// continuations run on whatever thread brings the answers.
  bool reacts = true;
  /// Called instead of sleeping in the middle of a call that waits for the worker until it is `ready`, or answered.
  std::function<void(pending_core& of, const std::function<bool()>& ready)> waits = {};
  staging_sizes staging = {};
  std::string runtime_origin = {};  ///< who named device_options::runtime_folder, for the text where it has no worker
  log_sink log = {};
};

/// Everything behind a `device` handle: its parts, and what each of them is given of the others. A part knows no more
/// than that; each has its own state and lock. Four kinds of threads come here: callers (mailbox), threads that wait
/// (completion), the reactor, which waits when nobody else does and posts all continuations, and the control loop
/// (lifecycle), which never runs anybody else's code.
class device_core final : public std::enable_shared_from_this<device_core> {
 public:
  /// Never fails: a device that cannot be opened is stopped and says why.
  static std::shared_ptr<device_core> open(const device_options& o, std::uint32_t index,
                                           const result<device_surroundings>& surroundings);
  ~device_core();
  device_core(const device_core&) = delete;

  /// Requests to close, to begin again, and to be told of either: see `device`.
  pending<void> close(bool now);
  pending<void> reset();
  pending<void> when_ready() { return life.ready().watch(shared_from_this()); }
  pending<void> when_stopped() { return life.stopped().watch(shared_from_this()); }
  /// After the device has stopped: waits for its thread to end, unless it is the caller.
  void join() noexcept { waiting.join(); }

  /// A part, kept as long as the device.
  template <class Part>
  std::shared_ptr<Part> shared(Part& part) {
    return {shared_from_this(), &part};
  }
  /// Sleeps in the middle of the call that `of` answers, as `sleep` does, or as the surroundings say.
  template <class Ready, class Sleep>
  void sleep_in_call(pending_core& of, const Ready& ready, Sleep&& sleep) {
    if (waits_)
      waits_(of, ready);
    else
      sleep();
  }

  // In the order in which they are made; where one is given another that comes later, it does not use it before the
  // device starts.
  device_options options;
  const bool gpu;  ///< the engine brings a platform: device memory is the workers' to make
  device_loop loop;
  shared_channel channel;
  ledger requests;
  admission takes;
  serving_worker worker;
  shared_segments segments;
  device_memory& memory;
  mailbox_room room;
  cancellations cancelled;
  copy_threads copies;  ///< to and from staging blocks of a GPU
  download_tracker downloads;
  completion answers;
  reactor waiting;
  device_events events;
  worker_pool workers;
  hardware_view hardware;
  quarantine_guard quarantine;
  start_deadlines deadlines;
  watchdog watch;
  request_mailbox mailbox;
  fault_reporter faults;
  recovery sorting;
  lifecycle life;
  memory_exchange exchange;
  const staging_sizes staging;
  peer_copies peers;
  spin_experience spin_for_room;  ///< of those who wait until the worker has emptied chunks of their upload

 private:
  device_core(const device_options& o, std::uint32_t index, device_surroundings surroundings);
  result<void> set_up(const std::string& runtime_origin);
  result<protocol::greeting> make_greeting(std::uint64_t begin, std::uint64_t device_bytes,
                                           std::uint64_t host_bytes) const;

  std::function<void(pending_core&, const std::function<bool()>&)> waits_;
};

}  // namespace troupe
