// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/base/error.hpp>
#include <troupe/base/restart_intensity.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/state.hpp>
#include <vector>

namespace troupe {

/// Decides what happens to a device and its workers: the serving worker and the standbys. A pure state machine, into
/// which events go and from which actions come. It knows no process, clock or thread. Times are nanoseconds on the
/// caller's clock.
class device_supervisor {
 public:
  /// Numbers workers from 1 in the order of their launch; 0 means none.
  using worker_id = std::uint32_t;

  enum class event_kind : std::uint8_t {
    opened,           ///< the device was opened
    worker_ready,     ///< the worker can serve
    worker_failed,    ///< the worker reports that it cannot serve; see `why`
    worker_exited,    ///< the worker's process or thread has ended, or could not be started; see `why`
    not_launched,     ///< the worker could not be started because a resource is short; see `why`
    work_ended,       ///< the worker failed, and the GPU has ended its kernels, but may still copy: see `copies`
    quiesced,         ///< none of the worker's threads run any more; its process still exists
    misbehaved,       ///< the worker wrote something impossible, or is stuck; see `why` and `how`
    cannot_serve,     ///< the worker was told to serve and could not; see `why`
    close_asked,      ///< serve the queued requests, then stop; `why` is set if the program did not ask for it
    close_now_asked,  ///< cancel the requests that have not started, and stop
    reset_asked,      ///< restart a device that has given up
    drained,          ///< every request is answered
    tick,             ///< time has passed
  };
  struct event {
    event_kind kind;
    worker_id worker = 0;
    std::optional<error> why = {};
    fault_kind how = fault_kind::ended;  ///< for misbehaved
    std::int64_t seen_ns = 0;            ///< when it was detected; 0: now
    time_span copies = {};               ///< for work_ended: time that copies may take after its threads have ended
  };

  enum class action_kind : std::uint8_t {
    launch,          ///< start `worker`
    admit_worker,    ///< let other threads use `worker`: it is ready
    standby_ready,   ///< report that `worker` could take over
    serve,           ///< tell `worker` to serve
    refuse_new,      ///< refuse new requests with `why`
    accept_new,      ///< accept new requests again
    cancel_queued,   ///< fail requests that have not started with `why`
    await_drained,   ///< report `drained` when every request is answered
    stop_worker,     ///< ask `worker` to end
    kill_worker,     ///< kill `worker`
    check_quiesced,  ///< report `quiesced` if none of the threads of `worker` run any more
    forget_worker,   ///< release `worker`: it has ended, or its end is no longer waited for
    sort_out,        ///< the serving worker has ended because of `why`: answer what it had started, keep the rest
    lost_standby,    ///< report that a standby has ended because of `why`
    answer_all,      ///< answer finished requests, then fail the others with `why`
    tell_stopped,    ///< wait for the end of all workers, then report that the device has stopped; no `why` after an
                     ///< orderly close
    end_watches,     ///< the device has stopped for good: end the streams of its events
  };
  struct action {
    action_kind kind;
    worker_id worker = 0;
    std::optional<error> why = {};
    fault_kind how = fault_kind::ended;           ///< for sort_out, and for answer_all after a fault
    std::int64_t seen_ns = 0;                     ///< when the fault was detected; 0 if there was none
    device_state state = device_state::starting;  ///< state of the device from this action on
    bool final = false;                           ///< for tell_stopped: no reset is possible; includes end_watches
  };

  struct limits {
    time_span start = time_span::of_seconds(30);  ///< from launch to ready
    time_span stop = time_span::of_seconds(5);    ///< from being asked to end to the end
    time_span death = time_span::of_seconds(5);   ///< from being killed to the end
    std::uint32_t standbys = 1;                   ///< workers that wait to take over
    std::uint32_t restarts = 3;                   ///< maximum number within `window`
    time_span window = time_span::of_seconds(60);
    bool restartable = true;  ///< if false, the device stops at the first fault
  };

  explicit device_supervisor(limits l) noexcept : limits_(l), restarts_(l.restarts, l.window) {}

  /// Handles an event and returns the actions to carry out, in order.
  std::vector<action> on(event e, std::int64_t now_ns);

  device_state state() const noexcept { return state_; }
  /// Returns the worker that serves, or that will serve when it is ready; 0 if there is none.
  worker_id serving() const noexcept { return serving_; }
  /// Returns true if the device has stopped and cannot be reset.
  bool ended() const noexcept { return ended_; }
  /// Returns when the next `tick` is due; nullopt if no tick is needed.
  std::optional<std::int64_t> next_tick() const noexcept;

 private:
  static constexpr std::int64_t never = INT64_MAX;
  struct fault {
    error why;
    fault_kind how;
    std::int64_t seen_ns;
    bool lack = false;  ///< true if a resource was short before the worker could serve
  };
  struct worker {
    worker_id id;
    std::int64_t due;                  ///< when the worker must be ready, or must have ended
    std::int64_t holds_until = never;  ///< set while a killed worker ends: no standby is launched before
    /// Unlike worker_link::ready, which is for other threads, `ready` stays true when the worker is killed.
    bool ready = false, stopping = false, killed = false;
    /// How long its copies may take after its threads have ended; nullopt while its kernels may still run.
    std::optional<time_span> copies = {};
    bool quiesced = false;
    std::int64_t handover = never;     ///< when to check its threads, or if it is quiesced, when its copies are done
    std::optional<fault> unable = {};  ///< why it could not serve; used if the worker states no better cause by `due`
  };
  using actions = std::vector<action>;

  worker* find(worker_id id) noexcept;
  worker_id launch(actions& out, std::int64_t now);
  void launch_first(actions& out, std::int64_t now);
  void serve(actions& out, worker& w);
  void kill(actions& out, worker& w, std::int64_t now);
  void add(actions& out, action a) const;
  void fail(actions& out, worker& w, fault f, std::int64_t now);
  void gone(actions& out, worker_id id, fault f, std::int64_t now);
  void recover(actions& out, fault f, std::int64_t now);
  void hand_over(actions& out, worker& w, std::int64_t now);
  void serve_next(actions& out, bool lacked, std::int64_t now);
  void launch_standby(actions& out, std::int64_t now);
  void schedule_launch(std::int64_t now) noexcept;
  void give_up(actions& out, fault f, std::int64_t now, bool final = false);
  void close(actions& out, bool at_once, std::int64_t now, std::optional<error> why);
  error closed() const;
  void stop_workers(actions& out, std::int64_t now);
  void finish(actions& out);
  void check_timeouts(actions& out, std::int64_t now);

  limits limits_;
  device_state state_ = device_state::starting;
  std::vector<worker> workers_;
  worker_id last_ = 0, serving_ = 0;
  std::optional<fault> fault_;  // why the serving worker is being killed
  restart_intensity restarts_;
  std::int64_t launch_at_ = never;   // when to launch the next worker after failed ones
  std::int64_t pause_ = 0;           // the last pause before a launch
  std::int64_t lack_until_ = never;  // until then, a device without a worker tolerates a shortage
  bool closing_now_ = false, drained_ = false, ended_ = false;
  std::optional<error> why_closed_;  // nothing: the program asked for it
  std::int64_t close_due_ = never;
};

}  // namespace troupe
