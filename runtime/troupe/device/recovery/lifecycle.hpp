// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/core/device_loop.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/device/waiting/milestone.hpp>
#include <troupe/device/workers/worker_pool.hpp>

namespace troupe {

class completion;
class hardware_view;
class reactor;
class recovery;

/// Passes events to the supervisor and carries out its decisions, from the opening of a device to its end. Runs on the
/// control loop, which never runs code of the program: continuations are passed to the reactor.
class lifecycle final : public supervision, public worker_listener, public control_loop::handler {
 public:
  lifecycle(device_board& board, completion& completion, reactor& reactor, worker_pool& workers, recovery& recovery,
            hardware_view& hardware) noexcept;

  /// Starts the first worker. Must be called once. Any thread.
  void start();
  /// Stops a device that could not be opened, and so has no worker.
  void give_up(const error& why);
  bool was_opened() const noexcept { return opened_; }

  milestone& ready() noexcept { return ready_; }
  milestone& stopped() noexcept { return stopped_; }
  /// Closes the device. `answer` completes when the device has stopped; an earlier reset is handled first.
  void close(bool now, ref<pending_state<void>> answer);
  /// Closes the device because no handle is left.
  void close_without_handles();
  /// Restarts a device that has stopped. `answer` completes when the device serves, or with the error that prevents it.
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
  enum timer : std::uint64_t { supervision_due, closed };  // closed: the worker's id is in the bits above it
  void carry_out(const device_supervisor::action& a);
  void launch(worker_id id);
  void serve(worker_id id);
  void accept_requests();
  void announce_refusal(const device_supervisor::action& a);
  void await_drained();
  void announce_stop(const device_supervisor::action& a);
  void check_closed(worker_id id);

  device_board& board_;
  completion& completion_;
  reactor& reactor_;
  worker_pool& workers_;
  recovery& recovery_;
  hardware_view& hardware_;

  device_supervisor supervisor_;
  std::optional<std::int64_t> armed_tick_;
  bool opened_ = false, lost_ = false;
  std::int64_t down_since_ns_ = 0;  // when the device was opened or reset, or its last fault was detected
  milestone ready_, stopped_;
};

}  // namespace troupe
