// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/device_loop.hpp>
#include <troupe/device/options.hpp>
#include <troupe/device/recovery/early_handover.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/device/waiting/milestone.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

class completion;
class device_events;
class device_memory;
class fault_reporter;
class hardware_view;
class quarantine_guard;
class reactor;
class recovery;
class request_mailbox;

/// Passes events to the supervisor and carries out its decisions, from opening a device until its end. Runs on the
/// control loop, which never runs code of the program: continuations go to the reactor.
class lifecycle final : public supervision, public worker_listener, public control_loop::handler {
 public:
  lifecycle(const device_options& options, const device_loop& loop, admission& admission, request_mailbox& mailbox,
            completion& completion, reactor& reactor, serving_worker& worker, worker_pool& workers, recovery& recovery,
            fault_reporter& faults, quarantine_guard& quarantine, hardware_view& hardware, device_events& events,
            bool gpu) noexcept;

  /// Starts the first worker. Called once. Any thread.
  void start();
  /// Stops a device that could not be opened, so has no worker.
  void give_up(const error& why);
  bool was_opened() const noexcept { return opened_; }

  milestone& ready() noexcept { return ready_; }
  milestone& stopped() noexcept { return stopped_; }
  /// Closes the device. `answer` completes when the device has stopped; an earlier reset is handled first.
  void close(bool now, ref<pending_state<void>> answer);
  /// Closes the device because no handle is left.
  void close_without_handles();
  /// Restarts a device that has stopped. `answer` completes when the device serves, or with the error that prevents
  /// it.
  void reset(ref<pending_state<void>> answer);

  void report(device_supervisor::event e) override;
  void report_now(device_supervisor::event e) override;
  void handle_message(worker_link& from, const worker_link::message& n) override;
  void handle_end(std::uint32_t id, const exit_status& how,
                  const std::optional<worker_link::message>& failure) override;
  void handle_lost_descriptors(const error& why) override;
  void on_descriptors_lost(const error& why) override { handle_lost_descriptors(why); }
  void on_readable(int) override {}
  void on_time(std::uint64_t tag) override;

 private:
  using worker_id = device_supervisor::worker_id;
  enum timer : std::uint64_t { supervision_due, quiesced, closed };  // closed: with the worker's id above it
  void carry_out(const device_supervisor::action& a);
  void launch(worker_id id);
  void serve(worker_id id);
  void accept_requests();
  void refuse_requests(const device_supervisor::action& a);
  void await_drained();
  void announce_stop(const device_supervisor::action& a);
  void check_quiesced();
  void check_closed(worker_id id);

  const device_options& options_;
  const device_loop& loop_;
  admission& admission_;
  request_mailbox& mailbox_;
  completion& completion_;
  reactor& reactor_;
  serving_worker& worker_;
  worker_pool& workers_;
  recovery& recovery_;
  fault_reporter& faults_;
  quarantine_guard& quarantine_;
  hardware_view& hardware_;
  device_events& events_;
  const bool gpu_;

  device_supervisor supervisor_;
  std::optional<std::int64_t> armed_tick_;
  bool opened_ = false, lost_ = false;
  std::int64_t opened_ns_ = 0;
  milestone ready_, stopped_;
  early_handover handover_;
};

}  // namespace troupe
