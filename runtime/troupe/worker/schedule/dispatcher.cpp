// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/worker/schedule/dispatcher.hpp>
#include <utility>

namespace troupe {
namespace {

// The size of a copy that takes about as long as the wait of one stream for another.
constexpr std::uint64_t small_copy = 64 << 10;
// Operations that run one after the other share a call if at least this many can while the device still reports its
// progress often enough. If fewer can, they take long, and the cost of a call does not matter.
constexpr std::uint32_t fewest_in_order = 4;
constexpr std::uint64_t too_heavy = std::uint64_t{1} << 56;  // also the maximum of sums of weights

}  // namespace

dispatcher::dispatcher(const settings& s, protocol::view channel, operation* operations, reporter& reports,
                       failure_log& failures, wait_policy policy, bool threads, platform* gpu)
    : settings_(s), lanes_(channel, operations, reports, failures, policy, threads, gpu) {
  settings_.inline_bytes = std::min(settings_.inline_bytes, too_heavy - 1);
  settings_.most_in_order = std::min(settings_.most_in_order, troupe::most_in_order);
  lanes_.set_up(settings_.lanes);
}

// Returns true if the operation does not block the thread that runs it on a stream.
bool dispatcher::only_enqueues(const operation& op) {
  return op.what != nullptr && !op.doomed && op.what->lane != troupe_lane_helper && is_ready(op);
}

bool dispatcher::is_ready(const operation& op) {
  return op.what->ready == nullptr || op.what->ready(op.engine, op.payload);
}

// Returns true if the operation may run on the stream of another library. A large copy may not, so that it overlaps
// with later computations.
bool dispatcher::suits_any_stream(const operation& op) const noexcept {
  if (op.what == nullptr || !lanes_.device().has_platform()) return false;
  if (op.what->lane == troupe_lane_anywhere) return true;
  return (op.what->lane == troupe_lane_upload || op.what->lane == troupe_lane_download) &&
         std::all_of(op.touched.begin(), op.touched.end(),
                     [](const memory_access& a) { return a.end - a.begin <= small_copy; });
}

// Returns how much an operation that could run at once counts toward `inline_bytes`.
std::uint64_t dispatcher::weight(const operation& op, std::uint32_t lane, bool busy) const noexcept {
  if (op.doomed) return 0;
  if (op.what->lane == troupe_lane_helper) return too_heavy;
  // The pump serves requests of every priority, so it runs no low-priority request itself.
  if (lane == settings_.lanes.low() && !lanes_.device().is_stream(lane)) return too_heavy;
  if (op.only_enqueues) return busy ? too_heavy : 0;
  if (!is_ready(op)) return too_heavy;
  std::uint64_t bytes = 0;
  for (const memory_access& a : op.touched) bytes += a.end - a.begin;
  return bytes;
}

void dispatcher::dispatch(operation& op, protocol::command_flags flags, bool busy) {
  // An operation that no engine can run fails on the lane of the first library.
  std::uint32_t wanted = op.what != nullptr ? op.what->lane : static_cast<std::uint32_t>(troupe_lane_library);
  const std::uint32_t library = op.what != nullptr ? op.library : 0;
  if (wanted == troupe_lane_fence) {
    wanted = troupe_lane_helper;
    for (std::uint32_t l = 0; l < max_lanes; ++l)
      if (!lanes_.idle(l)) op.waits.add({l, lanes_.issued(l)});
  }
  const bool enqueues = lanes_.device().has_platform() && only_enqueues(op);
  const std::uint64_t key = group_key(op, flags, enqueues);
  const priority urgency = flags.priority();
  const bool joins = urgency == group_.urgency && may_join(op, key);
  hazards_.drop_implied(op.waits);
  const std::uint32_t lane = joins ? group_.lane
                                   : settings_.lanes.choose({.wanted = wanted,
                                                             .urgency = urgency,
                                                             .library = library,
                                                             .on_any_stream = enqueues && suits_any_stream(op)},
                                                            op.waits, lanes_);
  // An operation that cannot be grouped may take long, so the group must not be delayed until it has run.
  if (has_group() && !joins &&
      (key == 0 || lane == group_.lane || waits_for_group(op) || ++group_.passed > most_together))
    close_open_group();
  hazards_.drop_implied(lane, op.waits);
  lanes_.device().mark_awaited(op.waits);
  const bool at_once = joins ? lanes_.are_met(op.waits, lane) : lanes_.can_run_at_once(op.waits, lane);
  op.only_enqueues = enqueues && lanes_.device().is_stream(lane);
  const std::uint64_t weighs = at_once ? weight(op, lane, busy) : too_heavy;
  lanes_.issue(op, lane);
  hazards_.note_waited(op.at, op.waits);
  hazards_.commit(op.touched, op.at);
  if (joins) {
    // The rest after a cut keeps its weight: after a call that was queued, none runs here. So the sum may grow without
    // limit.
    group_.weight = std::min(group_.weight + weighs, too_heavy), group_.heaviest = std::max(group_.heaviest, weighs);
    cut_.note(key, ++group_.count, group_.most);
    if (group_.count == group_.most) close_full_group();
  } else if (const std::uint32_t most = key != 0 && !has_group() ? most_in_call(op, lane) : 1; most > 1) {
    open_group_with(op, key, urgency, weighs, most);
  } else if (weighs <= settings_.inline_bytes) {
    lanes_.run_here(op);
  } else {
    lanes_.queue(op);
  }
}

std::uint64_t dispatcher::group_key(const operation& op, protocol::command_flags flags, bool enqueues) const {
  if (!settings_.coalesce || op.doomed || op.what->group == nullptr || flags.alone()) return 0;
  // A time limit applies to one operation, not to all that run one after the other.
  if (op.what->in_order != 0 && (settings_.most_in_order == 0 || flags.timed() || !(enqueues || is_ready(op))))
    return 0;
  return op.what->group(op.payload);
}

std::uint32_t dispatcher::most_in_call(const operation& head, std::uint32_t lane) const noexcept {
  if (head.what->in_order == 0) return most_together;
  if (!lanes_.device().is_stream(lane)) return settings_.most_in_order;
  const std::uint32_t most = std::min(settings_.most_in_order, lanes_.device().marked_after(lane));
  return most >= fewest_in_order ? most : 1;
}

// All members wait before any of them runs. So a member must not wait for anything that waits for the group: everything
// that it waits for must have been issued before the group was opened.
bool dispatcher::may_join(const operation& op, std::uint64_t key) const noexcept {
  if (!has_group() || key == 0 || op.what != group_.head->what) return false;
  if (op.timed != group_.head->timed) return false;  // an operation without a time limit does not report that it runs
  if (op.what->in_order != 0) {
    // It may need the results of earlier members, but those must not wait for something that only this one needs.
    wait_list others = op.waits;
    hazards_.drop_implied(group_.lane, others);
    return others.empty();
  }
  if (key != group_.key) return false;
  bool independent = !waits_for_group(op);
  op.waits.for_each(
      [&](position p) { independent &= p.lane == group_.lane || p.sequence <= group_.issued_before[p.lane]; });
  return independent;
}

bool dispatcher::group_can_wait() const noexcept {
  return has_group() && group_.head->what->in_order != 0 && lanes_.yet_to_run(group_.lane) > settings_.most_in_order;
}

bool dispatcher::waits_for_group(const operation& op) const noexcept {
  return op.waits.sequence(group_.lane) >= group_.first;
}

void dispatcher::open_group_with(operation& head, std::uint64_t key, priority urgency, std::uint64_t weight,
                                 std::uint32_t most) noexcept {
  group_ = {.lane = head.at.lane,
            .count = 1,
            .first = head.at.sequence,
            .head = &head,
            .key = key,
            .urgency = urgency,
            .weight = weight,
            .heaviest = weight,
            .passed = 0,
            .most = most,
            .issued_before = {}};
  for (std::uint32_t l = 0; l < max_lanes; ++l) group_.issued_before[l] = lanes_.issued(l);
  cut_.note(key, 1, most);
}

// Closes a group that is full. The rest after a cut of operations that run in order begins the next call.
void dispatcher::close_full_group() {
  open_group rest = group_;
  if (group_.head->what->in_order != 0) group_.count = cut_.place(group_.count);
  rest.count -= group_.count;
  rest.first += group_.count;
  close_open_group();
  if (rest.count == 0) return;
  rest.head = &lanes_.at({rest.lane, rest.first});
  rest.most = most_in_call(*rest.head, rest.lane);
  group_ = rest;
  cut_.begin();
  if (group_.count >= group_.most) close_open_group();
}

void dispatcher::close_open_group() {
  const open_group g = std::exchange(group_, {});
  g.head->together = g.count;
  if ((settings_.lanes_have_cores ? g.weight : g.heaviest) <= settings_.inline_bytes)
    lanes_.run_here(*g.head);
  else
    lanes_.queue(*g.head);
}

}  // namespace troupe
