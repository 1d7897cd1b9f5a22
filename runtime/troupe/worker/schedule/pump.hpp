// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/channel/slot_queue.hpp>
#include <troupe/protocol/command.hpp>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {

/// The heart of a worker: takes requests from the mailbox in its order, asks the hazard tracker what each must
/// wait for, and gives it to a lane. One thread.
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
    bool coalesce = true;
    /// Where the application's memory is mapped: lists of accesses lie there.
    std::uint64_t memory_begin = 0, memory_end = UINT64_MAX;
    /// How many failures may spoil memory at a time, so that memory nobody writes again costs nothing for ever. By
    /// default four times the largest mailbox: a request comes here before so many others have failed since it was
    /// checked, unless its caller waited very long for room, and then it is refused.
    std::uint64_t most_poison = std::uint64_t{4} * protocol::most_requests;
    /// Without, what cannot run at once waits for `step_lane`.
    bool threads = true;
    /// Where the lanes run, when it is not the host.
    platform* gpu = nullptr;
    /// An engine says that nothing works any more: called on any thread, and need not return.
    std::function<void(const failure&)> context_lost = {};
    /// The engine of a library was closed and opened anew, because it asked for that.
    std::function<void(const std::string& library)> restarted = {};
  };
  explicit pump(const parts& p);

  /// Where a platform is: the lanes' streams. Before anything else.
  result<void> make_streams() { return parts_.gpu != nullptr ? lanes_.make_streams(parts_.lanes) : result<void>(); }
  /// Before `run`: what was checked in an earlier generation may not read.
  void begin_generation(std::uint32_t generation) noexcept { generation_ = generation; }
  /// Serves until `stop` was called and the mailbox is empty, then waits for the lanes.
  result<void> run();
  enum class stepped : std::uint8_t { nothing, something, corrupt };
  /// What `run` does between two looks for something to do, for a pump without threads: takes one request, or lets a
  /// group go. Waits for the memory of the request, if that has not come. `corrupt` is final.
  stepped step();
  /// Runs what is next in a lane. False when there is nothing, or it must wait.
  bool step_lane(std::uint32_t lane) noexcept { return lanes_.step(lane); }
  /// Everything taken has been run.
  bool idle() const noexcept;
  /// Thread safe.
  void stop() noexcept;
  const protocol::view& channel() const noexcept { return parts_.channel; }
  /// So many memory messages have been carried out. For one thread.
  void segments_changed(std::uint32_t count) noexcept;

 private:
  /// Operations of one lane that have been issued and will share a call, once nobody can join any more.
  struct open_group {
    std::uint32_t lane = 0, count = 0;  // count 0: there is none
    std::uint64_t first = 0;            // its sequence
    operation* head = nullptr;
    std::uint64_t key = 0;
    priority urgency = priority::normal;
    std::uint64_t weight = 0;                            // against `inline_bytes`; too heavy if it must wait
    std::uint32_t passed = 0;                            // others issued since it was opened
    std::array<std::uint64_t, max_lanes> issued_before;  // by lane, when it was opened
  };

  bool accept(const sent_slot& sent);  // false: it cannot be a command
  void order(operation& op, const protocol::command_header& head, std::uint32_t wanted, std::uint32_t library);
  bool find_accesses(operation& op, const protocol::parsed_command& command);  // false: there cannot be such a list
  std::uint64_t group_key(const operation& op, protocol::command_flags flags) const;
  bool may_join(const operation& op, std::uint64_t key) const noexcept;
  bool waits_for_group(const operation& op) const noexcept;
  void close_group();
  void take_failures(lane_progress done);
  failure_ptr known_failure(std::uint64_t number) const;
  bool only_enqueues(const operation& op, std::uint32_t lane) const noexcept;
  std::uint64_t weight(const operation& op, std::uint32_t lane) const noexcept;
  void restart_libraries(std::uint64_t which);
  void before_a_pause();
  bool await_segments(std::uint32_t count) noexcept;  // false: they will never come

  parts parts_;
  std::uint32_t generation_ = 0;
  std::uint32_t known_behind_ = 0;  // so many at least have been sent after what is being taken
  std::unique_ptr<operation[]> operations_;
  failure_log failures_;
  lane_set lanes_;
  hazard_tracker hazards_;
  open_group group_;
  std::vector<std::pair<std::uint64_t, failure_ptr>> known_;  // by number; the most recent ones
  std::atomic<std::uint32_t> segments_{0};                    // memory messages carried out so far
  std::atomic<std::uint32_t> turn_{0};  // changes with each of them and with `stop`: await_segments sleeps on it
  std::atomic<bool> stopping_{false};
};

}  // namespace troupe
