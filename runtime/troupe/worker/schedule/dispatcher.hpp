// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <troupe/protocol/command.hpp>
#include <troupe/worker/schedule/hazards/hazards.hpp>
#include <troupe/worker/schedule/lane_chooser.hpp>
#include <troupe/worker/schedule/lanes.hpp>
#include <troupe/worker/schedule/sequence_cut.hpp>

namespace troupe {

/// The last step of the pump: chooses the lane of each operation, holds operations until others can share their call,
/// and runs them or leaves them to their lane. For the pump's thread only.
class dispatcher {
 public:
  struct settings {
    lane_chooser lanes;
    std::uint64_t inline_bytes;  ///< an operation or a group that touches more is left to its lane's thread
    bool coalesce;
    std::uint32_t most_in_order;  ///< maximum number of operations that run in order in one call; 0: none
    /// If false, a lane's thread would take the core of the pump or of the application, so a group counts as its
    /// largest member. Requests that arrive meanwhile wait for the whole group.
    bool lanes_have_cores;
  };
  dispatcher(const settings& s, protocol::view channel, operation* operations, reporter& reports, failure_log& failures,
             wait_policy policy, bool threads, platform* gpu);

  lane_set& lanes() noexcept { return lanes_; }
  const lane_set& lanes() const noexcept { return lanes_; }
  hazard_tracker& hazards() noexcept { return hazards_; }
  const hazard_tracker& hazards() const noexcept { return hazards_; }
  const lane_chooser& chooser() const noexcept { return settings_.lanes; }

  /// `op.waits` comes from the hazard tracker. `busy` is true if a long queue follows, so that the pump should not
  /// enqueue this operation itself.
  void dispatch(operation& op, protocol::command_flags flags, bool busy);
  bool has_group() const noexcept { return group_.count != 0; }
  /// Returns true if a group of operations that run in order is open, and its lane has other calls to make first: more
  /// operations may join until then.
  bool group_can_wait() const noexcept;
  /// Closes the open group, if there is one: runs it, or leaves it to its lane.
  void close_group() {
    if (has_group()) close_open_group();
  }

 private:
  /// Operations of one lane that have been issued, and that will share a call when no more can join.
  struct open_group {
    std::uint32_t lane = 0, count = 0;  ///< count 0: no group is open
    std::uint64_t first = 0;            ///< sequence of the first operation
    operation* head = nullptr;
    std::uint64_t key = 0;
    priority urgency = priority::normal;
    /// Sum and maximum of the operations' weights; `too_heavy` if one of them cannot run at once.
    std::uint64_t weight = 0, heaviest = 0;
    std::uint32_t passed = 0;            ///< number of other operations issued since the group was opened
    std::uint32_t most = most_together;  ///< maximum number of operations in the call
    std::array<std::uint64_t, max_lanes> issued_before;  ///< by lane, when the group was opened
  };

  std::uint64_t group_key(const operation& op, protocol::command_flags flags, bool enqueues) const;
  bool may_join(const operation& op, std::uint64_t key) const noexcept;
  std::uint32_t most_in_call(const operation& head, std::uint32_t lane) const noexcept;
  bool waits_for_group(const operation& op) const noexcept;
  void open_group_with(operation& head, std::uint64_t key, priority urgency, std::uint64_t weight,
                       std::uint32_t most) noexcept;
  void close_open_group();
  void close_full_group();
  static bool only_enqueues(const operation& op);
  static bool is_ready(const operation& op);
  bool suits_any_stream(const operation& op) const noexcept;
  std::uint64_t weight(const operation& op, std::uint32_t lane, bool busy) const noexcept;

  settings settings_;
  lane_set lanes_;
  hazard_tracker hazards_;
  open_group group_;
  sequence_cut cut_;  // for the open group, if its operations run in order
};

}  // namespace troupe
