// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/futex.hpp>
#include <troupe/worker/internal/command.hpp>
#include <troupe/worker/internal/pump.hpp>

namespace troupe {
namespace {

constexpr std::size_t most_known_failures = 4096;

failure_ptr failed_here(const error& why, const request_id& id) {
  return std::make_shared<failure>(
      failure{.reaction = why.reaction(), .code = why.code(), .domain = why.domain(), .text = why.text(), .first = id});
}

error checked_too_long_ago() {
  return error(reaction::retry_later, "worker",
               "so many requests have failed since this one was checked that nobody knows whether one of them should "
               "have written an input; ask again");
}

error memory_never_came() {
  return error(reaction::context_lost, "worker", "the worker ends and could not map the memory of this request");
}

}  // namespace

pump::pump(const parts& p)
    : parts_(p),
      operations_(std::make_unique<operation[]>(p.channel.at.capacity)),
      lanes_(p.channel, operations_.get(), p.reports, failures_, p.wait) {}

void pump::stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  parts_.commands.parking().wake_if_sleeping();
  turn_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(turn_, futex_scope::process);
}

void pump::segments_changed() noexcept {
  segments_.fetch_add(1, std::memory_order_release);
  turn_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(turn_, futex_scope::process);
}

result<void> pump::run() {
  adaptive_wait wait(parts_.wait);
  while (true) {
    const ring_record record = parts_.commands.peek();
    if (record && accept(record.ticket, record.payload)) continue;
    if (record || record.status == read_status::violation)
      return error(reaction::fatal, "worker", "the command ring is corrupt");
    if (wait.spin([this] { return parts_.commands.peek().status != read_status::none; })) continue;
    if (stopping_.load()) break;
    parts_.reports.announce_idle();
    if (!parts_.commands.prepare_park()) continue;
    if (stopping_.load(std::memory_order_seq_cst))
      parts_.commands.cancel_park();
    else
      parts_.commands.park();
  }
  lanes_.drain();
  parts_.reports.announce_idle();
  return {};
}

bool pump::await_segments(std::uint32_t count) noexcept {
  while (true) {
    const std::uint32_t before = turn_.load(std::memory_order_seq_cst);
    if (static_cast<std::int32_t>(segments_.load(std::memory_order_acquire) - count) >= 0) [[likely]]
      return true;
    if (stopping_.load(std::memory_order_seq_cst)) return false;
    futex_wait(turn_, before, futex_scope::process);
  }
}

void pump::take_failures(lane_progress done) {
  if (failures_.empty()) [[likely]]
    return;
  std::array<std::uint64_t, max_lanes> issued;
  for (std::uint32_t i = 0; i < max_lanes; ++i) issued[i] = lanes_.issued(i);
  failures_.harvest(issued, [this](const failure_log::entry& e) {
    hazards_.poison(e.accesses, e.at, e.number);
    if (e.number > parts_.most_poison) hazards_.forget_poison_up_to(e.number - parts_.most_poison);
    known_.emplace_back(e.number, e.why);
  });
  if (known_.size() > 2 * most_known_failures) known_.erase(known_.begin(), known_.end() - most_known_failures);
  failures_.prune(done);
}

failure_ptr pump::known_failure(std::uint64_t number) const {
  for (auto at = known_.rbegin(); at != known_.rend(); ++at)
    if (at->first == number) return at->second;
  return std::make_shared<failure>(failure{
      .reaction = reaction::retry_later,
      .domain = "device",
      .text = "an earlier request that should have written an input failed (failure " + std::to_string(number) + ")"});
}

bool pump::cheap(const operation& op) const noexcept {
  if (op.doomed) return true;
  if (op.what->lane == troupe_lane_helper) return false;
  std::uint64_t bytes = 0;
  for (const memory_access& a : op.touched()) bytes += a.end - a.begin;
  return bytes <= parts_.inline_bytes;
}

bool pump::accept(std::uint64_t ticket, std::span<const std::byte> record) {
  const auto command = parse_command(record, parts_.channel.at.capacity);
  if (!command) [[unlikely]]
    return false;
  const protocol::command_header& head = command->head;
  // Progress first, then failures, then hazards: whatever counts as complete below has told of its failure already.
  // Before the slot's operation is touched, too: its last one is among what is complete, so its lane has done with it.
  std::array<std::uint64_t, max_lanes> done;
  for (std::uint32_t i = 0; i < max_lanes; ++i) done[i] = lanes_.done(i);
  operation& op = operations_[head.slot];
  op.ticket = ticket;
  op.slot = head.slot;
  op.doomed.reset();
  op.access_count = head.access_count;
  std::memcpy(op.accesses.data(), command->accesses.data(), command->accesses.size());
  op.payload = command->payload.data();

  take_failures(done);
  hazards_.collect(op.touched(), done, head.reports_seen, op.waits, op.inputs);

  std::uint32_t library = 0, wanted = troupe_lane_library;
  if (auto found = parts_.engines.find(head.library, head.opcode);
      found && found->operation->payload_bytes == head.payload_bytes) [[likely]] {
    op.what = found->operation;
    op.engine = found->engine;
    op.name = op.what->name;
    library = found->library;
    wanted = op.what->lane;
  } else {
    op.what = nullptr;
    op.name = {};
    const error disagree(reaction::unsupported, "worker",
                         "the engine lays this request out in another way; build it again");
    op.doomed = failed_here(found ? disagree : found.error(), {"", ticket});
  }
  if (!op.doomed && op.inputs.poison() != 0) op.doomed = passed_on(known_failure(op.inputs.poison()), op.id());
  if (head.reports_seen < hazards_.forgotten()) [[unlikely]] {
    const auto touched = op.touched();
    if (std::any_of(touched.begin(), touched.end(), [](const auto& a) { return a.mode != access_mode::write; }))
      op.doomed = failed_here(checked_too_long_ago(), op.id());
  }

  if (wanted == troupe_lane_fence) {
    wanted = troupe_lane_helper;
    for (std::uint32_t l = 0; l < max_lanes; ++l)
      if (!lanes_.idle(l)) op.waits.add({l, lanes_.issued(l)});
  }
  const std::uint32_t lane = parts_.lanes.choose(wanted, library, op.waits,
                                                 [this](std::uint32_t l) { return lanes_.issued(l) - lanes_.done(l); });
  hazards_.drop_implied(lane, op.waits);
  const bool at_once = op.waits.empty() && lanes_.idle(lane);
  lanes_.issue(op, lane);
  hazards_.note_waited(op.at, op.waits);
  hazards_.commit(op.touched(), op.at);
  if (head.segments != 0 && !await_segments(head.segments) && !op.doomed) [[unlikely]]
    op.doomed = failed_here(memory_never_came(), op.id());
  if (at_once && cheap(op)) {
    lanes_.run_here(op);
    parts_.commands.pop();
  } else {
    std::memcpy(op.copy.data(), op.payload, head.payload_bytes);
    op.payload = op.copy.data();
    parts_.commands.pop();
    lanes_.queue(op);
  }
  return true;
}

}  // namespace troupe
