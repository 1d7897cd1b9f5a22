// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/base/error.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/device/state.hpp>
#include <vector>

namespace troupe {

/// Decides what happens to a device. A pure state machine: events go in, actions come out; it knows no process, no
/// clock and no thread. Times are nanoseconds of whatever clock the caller uses.
class device_supervisor {
 public:
  enum class event_kind : std::uint8_t {
    opened,           ///< begin
    worker_ready,     ///< it answered the handshake
    worker_failed,    ///< it answered that it cannot serve, or could not be launched; `why`
    worker_exited,    ///< its process or thread is gone; `why` says how
    misbehaved,       ///< it wrote something impossible; `why`
    close_asked,      ///< serve what is queued, then stop
    close_now_asked,  ///< answer what has not started and stop
    drained,          ///< no request is unanswered
    tick,             ///< time has passed
  };
  struct event {
    event_kind kind;
    std::optional<error> why = {};
  };

  enum class action_kind : std::uint8_t {
    launch,         ///< start a worker
    tell_ready,     ///< whoever waits for readiness
    refuse_new,     ///< requests from now on get `why`
    cancel_queued,  ///< requests that have not started get `why`
    stop_worker,    ///< ask it to end
    kill_worker,    ///< end it
    answer_all,     ///< every request without an answer gets `why`; what has finished is answered before
    tell_stopped,   ///< whoever watches; `why` is empty after an orderly close
  };
  struct action {
    action_kind kind;
    std::optional<error> why = {};
  };

  struct limits {
    time_span start = time_span::of_seconds(30);  ///< from launch to ready
    time_span stop = time_span::of_seconds(5);    ///< from being asked to end to the end
  };

  explicit device_supervisor(limits l) noexcept : limits_(l) {}

  /// The only way in.
  std::vector<action> on(event e, std::int64_t now_ns);

  device_state state() const noexcept { return state_; }
  /// When the next `tick` is due; nothing when none is.
  std::optional<std::int64_t> next_tick() const noexcept { return deadline_; }

 private:
  void stop(std::vector<action>& out, error why, bool kill);

  limits limits_;
  device_state state_ = device_state::starting;
  bool worker_alive_ = false;
  bool worker_ready_ = false;
  bool closing_now_ = false;
  bool stop_sent_ = false, kill_sent_ = false;
  std::optional<std::int64_t> deadline_;
};

}  // namespace troupe
