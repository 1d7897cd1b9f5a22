// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/command.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/schedule/dispatcher.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>

namespace troupe {

/// The core of a worker: takes requests from the mailbox in order, finds the operation that serves each, asks the
/// hazard tracker what it must wait for, and dispatches it to a lane. Not thread-safe, except where stated.
class pump {
 public:
  struct parts {
    protocol::view channel;
    slot_queue_reader& commands;
    reporter& reports;
    engine_set& engines;
    wait_policy wait;
    lane_chooser lanes;
    std::uint64_t inline_bytes;
    bool coalesce = true, lanes_have_cores = true;  ///< as in dispatcher::settings
    std::uint32_t most_in_order = troupe::most_in_order;
    /// The range of addresses of the application's memory, which contains lists of accesses.
    std::uint64_t memory_begin = 0, memory_end = UINT64_MAX;
    /// The maximum number of failures that spoil memory at a time. Older poison is forgotten, because memory that is
    /// never written again would keep it. By default four times the capacity of the largest mailbox: fewer requests
    /// than that fail between the check of a request and its arrival, unless its caller waited very long for room; such
    /// a request is refused.
    std::uint64_t most_poison = std::uint64_t{4} * protocol::most_requests;
    /// True if lanes have threads. Otherwise operations that cannot run at once wait for `step_lane`.
    bool threads = true;
    /// Null if the lanes run on the host.
    platform* gpu = nullptr;
    /// Called, on any thread, when an engine reports that its context is lost. Need not return.
    std::function<void(const failure&)> context_lost = {};
    /// Called after a library's engine was reopened at its own request.
    std::function<void(const std::string& library)> restarted = {};
  };
  explicit pump(const parts& p);

  /// Makes the lanes' streams, if there is a platform. Must be called first.
  result<void> make_streams() {
    return parts_.gpu != nullptr ? lanes().device().make_streams(parts_.lanes) : result<void>();
  }
  /// Returns the progress of the lanes' device.
  device_progress& device() noexcept { return lanes().device(); }
  /// Sets the generation. Must be called before `run`. Requests that were checked in an earlier generation may not
  /// read.
  void begin_generation(std::uint32_t generation) noexcept { generation_ = generation; }
  /// Serves until `stop` was called and the mailbox is empty, then waits for the lanes.
  result<void> run();
  enum class stepped : std::uint8_t { nothing, something, corrupt };
  /// Does one step of `run`, for a pump without threads: takes one request, or closes the open group. Blocks until the
  /// memory of the request is mapped. The result `corrupt` is final.
  stepped step();
  /// Runs the next operation of a lane. Returns false if none is queued, or if it must wait.
  bool step_lane(std::uint32_t lane) noexcept { return lanes().step(lane); }
  /// Returns true if every request taken so far is complete.
  bool idle() const noexcept;
  /// Makes `run` return. Thread-safe.
  void stop() noexcept;
  const protocol::view& channel() const noexcept { return parts_.channel; }
  /// Sets the number of memory messages that have been carried out. May be called on any one thread.
  void segments_changed(std::uint32_t count) noexcept;

 private:
  lane_set& lanes() noexcept { return dispatcher_.lanes(); }
  hazard_tracker& hazards() noexcept { return dispatcher_.hazards(); }
  const hazard_tracker& hazards() const noexcept { return dispatcher_.hazards(); }
  bool accept(const sent_slot& sent);  // false: the record cannot be a command
  operation& begin_operation(const sent_slot& sent, const protocol::parsed_command& command);
  bool find_accesses(operation& op, const protocol::parsed_command& command);  // false: there cannot be such a list
  void take_failures(lane_progress done);
  failure_ptr known_failure(std::uint64_t number) const;
  void find_engine(operation& op, const protocol::command_header& head);
  void check_inputs(operation& op, const protocol::command_header& head) const;
  void await_memory(operation& op, std::uint32_t segments) noexcept;
  void restart_libraries(std::uint64_t which);
  void before_a_pause();
  bool await_segments(std::uint32_t count) noexcept;  // false: they will never be mapped

  parts parts_;
  std::uint32_t generation_ = 0;
  std::uint32_t known_behind_ = 0;  // a lower bound of the number of requests after the one being taken
  std::unique_ptr<operation[]> operations_;
  failure_log failures_;
  dispatcher dispatcher_;
  std::vector<std::pair<std::uint64_t, failure_ptr>> known_;  // the most recent failures, by number
  std::atomic<std::uint32_t> segments_{0};                    // number of memory messages carried out so far
  std::atomic<std::uint32_t> turn_{0};  // changes with `segments_` and with `stop`; await_segments sleeps on it
  std::atomic<bool> stopping_{false};
};

}  // namespace troupe
