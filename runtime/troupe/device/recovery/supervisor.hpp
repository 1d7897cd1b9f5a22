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

/// Decides what happens to a device and its workers: one that serves, and others that stand by. A pure state machine:
/// events go in, actions come out; it knows no process, no clock and no thread. Times are nanoseconds of whatever clock
/// the caller uses.
class device_supervisor {
 public:
  /// Workers are counted from 1, in the order of their launch. 0: none.
  using worker_id = std::uint32_t;

  enum class event_kind : std::uint8_t {
    opened,           ///< begin
    worker_ready,     ///< it could serve
    worker_failed,    ///< it says that it cannot serve; `why`
    worker_exited,    ///< its process or thread is gone, or was never there; `why` says how
    quiesced,         ///< it failed and was killed, and nothing of it runs any more; its process is yet to go away
    misbehaved,       ///< it wrote something impossible, or does not move any more; `why` and `how`
    cannot_serve,     ///< it was told to serve, and could not; `why`
    close_asked,      ///< serve what is queued, then stop
    close_now_asked,  ///< answer what has not started and stop
    reset_asked,      ///< a device that has given up is to try again
    drained,          ///< no request is unanswered
    tick,             ///< time has passed
  };
  struct event {
    event_kind kind;
    worker_id worker = 0;
    std::optional<error> why = {};
    fault_kind how = fault_kind::ended;  ///< misbehaved: in which way
    std::int64_t seen_ns = 0;            ///< when it was seen; 0: now
  };

  enum class action_kind : std::uint8_t {
    launch,         ///< start `worker`
    serve,          ///< `worker` serves from now on
    refuse_new,     ///< requests from now on get `why`
    accept_new,     ///< or not any more
    cancel_queued,  ///< requests that have not started get `why`
    stop_worker,    ///< ask it to end
    kill_worker,    ///< end it
    forget_worker,  ///< it is gone, or nobody waits for its end any more
    sort_out,       ///< the worker that served is gone because of `why`: answer what it had started, keep the rest
    lost_standby,   ///< a worker that did not serve is gone because of `why`
    answer_all,     ///< every request without an answer gets `why`; what has finished is answered before
    tell_stopped,   ///< tell those that watch, when all workers have been waited for; `why` is empty after an orderly
                    ///< close
  };
  struct action {
    action_kind kind;
    worker_id worker = 0;
    std::optional<error> why = {};
    fault_kind how = fault_kind::ended;           ///< sort_out; answer_all after a fault
    std::int64_t seen_ns = 0;                     ///< and when it was seen; 0: there was no fault
    device_state state = device_state::starting;  ///< the device's, from this action on
  };

  struct limits {
    time_span start = time_span::of_seconds(30);  ///< from launch to ready
    time_span stop = time_span::of_seconds(5);    ///< from being asked to end, or killed, to the end
    std::uint32_t standbys = 1;                   ///< workers that wait to take over
    std::uint32_t restarts = 3;                   ///< tolerated within `window`
    time_span window = time_span::of_seconds(60);
    bool restartable = true;  ///< false: the first fault is the last
  };

  explicit device_supervisor(limits l) noexcept : limits_(l), restarts_(l.restarts, l.window) {}

  /// The only way in.
  std::vector<action> on(event e, std::int64_t now_ns);

  device_state state() const noexcept { return state_; }
  /// The worker that serves, or will when it is ready.
  worker_id serving() const noexcept { return serving_; }
  /// It has stopped and will not come back.
  bool ended() const noexcept { return ended_; }
  /// When the next `tick` is due; nothing when none is.
  std::optional<std::int64_t> next_tick() const noexcept;

 private:
  static constexpr std::int64_t never = INT64_MAX;
  struct fault {
    error why;
    fault_kind how;
    std::int64_t seen_ns;
  };
  struct worker {
    worker_id id;
    std::int64_t due;  ///< to be ready, or gone
    /// `ready` stays set when it is killed. worker_link::ready, which is for other threads, does not.
    bool ready = false, stopping = false, killed = false;
    std::optional<fault> unable = {};  ///< to serve; when it is due, that counts
  };
  using actions = std::vector<action>;

  worker* find(worker_id id) noexcept;
  worker_id launch(actions& out, std::int64_t now);
  void serve(actions& out, worker& w);
  void kill(actions& out, worker& w, std::int64_t now);
  void add(actions& out, action a) const;
  void fail(actions& out, worker& w, fault f, std::int64_t now);
  void gone(actions& out, worker_id id, fault f, std::int64_t now);
  void recover(actions& out, fault f, std::int64_t now);
  void fill_up(actions& out, std::int64_t now);
  void come_back_later(std::int64_t now) noexcept;
  void give_up(actions& out, fault f, std::int64_t now);
  void close(actions& out, bool at_once, std::int64_t now);
  void stop_workers(actions& out, std::int64_t now);
  void finish(actions& out);
  void look_at_time(actions& out, std::int64_t now);

  limits limits_;
  device_state state_ = device_state::starting;
  std::vector<worker> workers_;
  worker_id last_ = 0, serving_ = 0;
  std::optional<fault> fault_;  // why the worker that serves is being killed
  restart_intensity restarts_;
  std::int64_t launch_at_ = never;  // the next worker, after others that failed
  std::int64_t pause_ = 0;          // how long that was, growing
  bool closing_now_ = false, drained_ = false, ended_ = false;
  std::int64_t close_due_ = never;
};

}  // namespace troupe
