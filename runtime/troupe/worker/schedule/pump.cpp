// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/cat.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/prefetch.hpp>
#include <troupe/worker/schedule/pump.hpp>

namespace troupe {
namespace {

// How far ahead of what is being taken the next is asked for, and how much of its record.
constexpr std::uint32_t looked_ahead = 2;
// With so much behind it, what could be enqueued at once is left to its lane's thread, while the next is looked at. For
// less it would not pay to wake that thread.
constexpr std::uint32_t long_queue = 16;
constexpr int long_rest = 256;  // 5 to 12 µs
constexpr std::size_t usual_record_bytes = 6 * 64;
constexpr std::size_t most_known_failures = 4096;
constexpr std::uint64_t too_heavy = std::uint64_t{1} << 56;  // most_together of them can still be summed

failure_ptr failed_here(const error& why, const request_id& id) {
  return std::make_shared<failure>(
      failure{.reaction = why.reaction(), .code = why.code(), .domain = why.domain(), .text = why.text(), .first = id});
}

error checked_too_long_ago() {
  return error(reaction::retry_later, "worker",
               "so many requests have failed since this one was checked that nobody knows whether one of them should "
               "have written an input; ask again");
}

error restarted_meanwhile() {
  return error(reaction::retry_later, "worker",
               "the device was restarted while this request was on its way, so nobody knows whether its inputs still "
               "hold what they held when it was checked; ask again");
}

error memory_never_came() {
  return error(reaction::context_lost, "worker", "the worker ends and could not map the memory of this request");
}

}  // namespace

pump::pump(const parts& p)
    : parts_(p),
      operations_(std::make_unique<operation[]>(p.channel.at.capacity)),
      lanes_(p.channel, operations_.get(), p.reports, failures_, p.wait, p.threads, p.gpu) {
  parts_.inline_bytes = std::min(parts_.inline_bytes, too_heavy - 1);
  lanes_.set_up(p.lanes);
  lanes_.when_context_lost(p.context_lost);
}

void pump::stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  parts_.commands.parking().wake_if_sleeping();
  turn_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(turn_, futex_scope::process);
}

void pump::segments_changed(std::uint32_t count) noexcept {
  segments_.store(count, std::memory_order_release);
  turn_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(turn_, futex_scope::process);
}

pump::stepped pump::step() {
  if (const auto sent = parts_.commands.peek()) {
    if (known_behind_ > 0) --known_behind_;
    if (known_behind_ == 0 && parts_.commands.peek_beyond(long_queue)) known_behind_ = long_queue;
    if (const auto later = parts_.commands.peek_beyond(looked_ahead)) {
      will_read(later->record.data(), usual_record_bytes);
      will_write(&operations_[later->slot], sizeof(operation));
      // The sender writes right beside it. Where it is started on another thread, that one asks.
      if (known_behind_ == 0 || parts_.gpu == nullptr) will_write(&parts_.channel.slot(later->slot), 1);
    }
    parts_.commands.pop();
    if (accept(*sent)) [[likely]]
      return stepped::something;
    if (group_.count != 0) close_group();  // its members have places in their lane
    return stepped::corrupt;
  }
  if (group_.count == 0) return stepped::nothing;
  close_group();
  return stepped::something;
}

bool pump::idle() const noexcept {
  bool all = group_.count == 0;
  for (std::uint32_t l = 0; l < max_lanes; ++l) all &= lanes_.idle(l);
  return all;
}

result<void> pump::run() {
  spin_experience known(parts_.wait);
  adaptive_wait wait(known);
  while (true) {
    const stepped how = step();
    if (how == stepped::something) continue;
    if (how == stepped::corrupt) return error(reaction::fatal, "worker", "the memory of the commands is corrupt");
    lanes_.mark_all();
    // Senders write where this looks, and each look holds him up.
    const int rest = lanes_.have_plenty() ? long_rest : 0;
    const auto arrived = [&] {
      for (int i = 0; i < rest; ++i) spin_hint();
      return !parts_.commands.empty();
    };
    const auto in_vain = [&] {
      const std::uint32_t here = current_core();
      protocol::note_core(parts_.channel.page().pump_core, here);
      return here != 0 && parts_.channel.application().shared_core.load(std::memory_order_relaxed) == here;
    };
    if (wait.spin(arrived, in_vain)) continue;
    if (stopping_.load()) break;
    parts_.reports.announce_idle();
    if (!parts_.commands.prepare_park()) continue;
    if (stopping_.load(std::memory_order_seq_cst))
      parts_.commands.cancel_park();
    else
      wait.sleep_after_spin([this] { parts_.commands.park(); });
    protocol::note_core(parts_.channel.page().pump_core, current_core());
  }
  lanes_.drain();
  parts_.reports.announce_idle();
  return {};
}

// Their operations hold on to what is about to be closed, so they run first.
void pump::restart_libraries(std::uint64_t which) {
  if (group_.count != 0) close_group();
  lanes_.drain();
  if (lanes_.is_lost()) return;  // and calls may still be running
  for (std::uint32_t library = 0; which != 0; ++library, which >>= 1)
    if ((which & 1) != 0) {
      const std::string name = parts_.engines.restart(library);
      if (parts_.restarted) parts_.restarted(name);
    }
}

// What was sent before shall not wait for what this one waits for.
void pump::before_a_pause() {
  if (group_.count != 0) close_group();
  lanes_.mark_all();
}

bool pump::await_segments(std::uint32_t count) noexcept {
  while (true) {
    const std::uint32_t before = turn_.load(std::memory_order_seq_cst);
    if (static_cast<std::int32_t>(segments_.load(std::memory_order_acquire) - count) >= 0) [[likely]]
      return true;
    if (stopping_.load(std::memory_order_seq_cst)) return false;
    before_a_pause();
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
  return std::make_shared<failure>(
      failure{.reaction = reaction::retry_later,
              .domain = "device",
              .text = cat("an earlier request that should have written an input failed (failure ", number, ")")});
}

// That takes little time; what goes through the application's memory may wait for the application.
bool pump::only_enqueues(const operation& op, std::uint32_t lane) const noexcept {
  if (!lanes_.is_stream(lane) || op.doomed) return false;
  if (op.what->lane == troupe_lane_upload || op.what->lane == troupe_lane_download) return false;
  return op.what->ready == nullptr || op.what->ready(op.engine, op.payload);
}

// How much an operation that could run at once counts against `inline_bytes`.
std::uint64_t pump::weight(const operation& op, std::uint32_t lane) const noexcept {
  if (op.doomed) return 0;
  if (op.what->lane == troupe_lane_helper) return too_heavy;
  // The pump itself serves everybody.
  if (lane == parts_.lanes.low() && !lanes_.is_stream(lane)) return too_heavy;
  if (op.only_enqueues) return known_behind_ > 0 ? too_heavy : 0;
  if (op.what->ready != nullptr && !op.what->ready(op.engine, op.payload)) return too_heavy;
  std::uint64_t bytes = 0;
  for (const memory_access& a : op.touched) bytes += a.end - a.begin;
  return bytes;
}

bool pump::find_accesses(operation& op, const protocol::parsed_command& command) {
  if (command.head.access_count != protocol::listed_accesses) [[likely]] {
    op.touched = {reinterpret_cast<const memory_access*>(command.accesses.data()), command.head.access_count};
    return true;
  }
  const std::uint64_t begin = command.list.begin, bytes = command.list.end * sizeof(memory_access);
  if (begin < parts_.memory_begin || begin > parts_.memory_end || bytes > parts_.memory_end - begin) return false;
  op.touched = {};
  if (!await_segments(command.head.segments)) {
    op.doomed = failed_here(memory_never_came(), op.id());
    return true;
  }
  const auto* list = reinterpret_cast<const memory_access*>(static_cast<std::uintptr_t>(begin));
  op.touched = {list, static_cast<std::size_t>(command.list.end)};
  return protocol::are_accesses(std::as_bytes(op.touched));
}

bool pump::accept(const sent_slot& sent) {
  const auto command = protocol::parse_command(sent.record);
  if (!command) [[unlikely]]
    return false;
  const protocol::command_header& head = command->head;
  // Progress first, then failures, then hazards: whatever counts as complete below has told of its failure already.
  // Before the slot's operation is touched, too: its last one is among what is complete, so its lane has done with it.
  std::array<std::uint64_t, max_lanes> done;
  for (std::uint32_t i = 0; i < max_lanes; ++i) done[i] = lanes_.done(i);
  operation& op = operations_[sent.slot];
  op.ticket = sent.ticket;
  op.slot = sent.slot;
  op.what = nullptr;
  op.doomed.reset();
  op.awaited.store(false, std::memory_order_relaxed);
  op.timed = head.flags.timed();
  op.together = 1;
  op.payload = command->payload.data();
  if (!find_accesses(op, *command)) [[unlikely]]
    return false;

  if (const std::uint64_t broken = lanes_.take_broken()) [[unlikely]]
    restart_libraries(broken);
  take_failures(done);
  hazards_.collect(op.touched, done, head.reports_seen, op.waits, op.inputs);

  std::uint32_t library = 0, wanted = troupe_lane_library;
  const engine_set::found* const loaded = parts_.engines.loaded_operation(head.opcode);
  if (loaded == nullptr) [[unlikely]]
    before_a_pause();  // loading an engine takes long
  if (auto found =
          loaded != nullptr ? result<engine_set::found>(*loaded) : parts_.engines.find(head.library, head.opcode);
      found && found->operation->payload_bytes == head.payload_bytes) [[likely]] {
    op.what = found->operation;
    op.engine = found->engine;
    op.library = found->library;
    library = found->library;
    wanted = op.what->lane;
  } else {
    const error disagree(reaction::unsupported, "worker",
                         "the engine lays this request out in another way; build it again");
    op.doomed = failed_here(found ? disagree : found.error(), {"", sent.ticket});
  }
  if (!op.doomed && op.inputs.poison() != 0) op.doomed = passed_on(known_failure(op.inputs.poison()), op.id());
  const bool old = head.generation != generation_;
  if (old || head.reports_seen < hazards_.forgotten()) [[unlikely]] {
    if ((old && head.flags.bound()) ||
        std::any_of(op.touched.begin(), op.touched.end(), [](const auto& a) { return a.mode != access_mode::write; }))
      op.doomed = failed_here(old ? restarted_meanwhile() : checked_too_long_ago(), op.id());
  }
  order(op, head, wanted, library);
  return true;
}

// Chooses the lane, and gives the operation to it or to the group that is open.
void pump::order(operation& op, const protocol::command_header& head, std::uint32_t wanted, std::uint32_t library) {
  if (head.segments != 0 && !await_segments(head.segments) && !op.doomed) [[unlikely]]
    op.doomed = failed_here(memory_never_came(), op.id());
  if (wanted == troupe_lane_fence) {
    wanted = troupe_lane_helper;
    for (std::uint32_t l = 0; l < max_lanes; ++l)
      if (!lanes_.idle(l)) op.waits.add({l, lanes_.issued(l)});
  }
  const std::uint64_t key = group_key(op, head.flags);
  const priority urgency = head.flags.priority();
  const bool joins = urgency == group_.urgency && may_join(op, key);
  const std::uint32_t lane =
      joins ? group_.lane : parts_.lanes.choose(wanted, urgency, library, op.waits, [this](std::uint32_t l) {
        return lanes_.issued(l) - lanes_.done(l);
      });
  // What cannot be grouped may take long, so nothing may wait for it that came before it.
  if (group_.count != 0 && !joins &&
      (key == 0 || lane == group_.lane || waits_for_group(op) || ++group_.passed > most_together))
    close_group();
  hazards_.drop_implied(lane, op.waits);
  lanes_.will_wait_for(op.waits);
  const bool at_once = joins ? lanes_.are_met(op.waits, lane) : lanes_.can_run_at_once(op.waits, lane);
  op.only_enqueues = only_enqueues(op, lane);
  const std::uint64_t weighs = at_once ? weight(op, lane) : too_heavy;
  lanes_.issue(op, lane);
  hazards_.note_waited(op.at, op.waits);
  hazards_.commit(op.touched, op.at);
  if (joins) {
    group_.weight += weighs;
    if (++group_.count == most_together) close_group();
  } else if (key != 0 && group_.count == 0) {
    group_ = {.lane = lane,
              .count = 1,
              .first = op.at.sequence,
              .head = &op,
              .key = key,
              .urgency = urgency,
              .weight = weighs,
              .passed = 0,
              .issued_before = {}};
    for (std::uint32_t l = 0; l < max_lanes; ++l) group_.issued_before[l] = lanes_.issued(l);
  } else if (weighs <= parts_.inline_bytes) {
    lanes_.run_here(op);
  } else {
    lanes_.queue(op);
  }
}

std::uint64_t pump::group_key(const operation& op, protocol::command_flags flags) const {
  if (!parts_.coalesce || op.doomed || op.what->group == nullptr || flags.alone()) return 0;
  return op.what->group(op.payload);
}

// All of a group waits before any of it runs. So what a member waits for must not wait for the group: it was issued
// before the group was opened.
bool pump::may_join(const operation& op, std::uint64_t key) const noexcept {
  if (group_.count == 0 || key == 0 || key != group_.key || op.what != group_.head->what) return false;
  if (op.timed != group_.head->timed) return false;  // what has no time limit says nothing of when it runs
  bool independent = !waits_for_group(op);
  op.waits.for_each(
      [&](position p) { independent &= p.lane == group_.lane || p.sequence <= group_.issued_before[p.lane]; });
  return independent;
}

bool pump::waits_for_group(const operation& op) const noexcept {
  return op.waits.sequence(group_.lane) >= group_.first;
}

void pump::close_group() {
  const open_group g = std::exchange(group_, {});
  g.head->together = g.count;
  if (g.weight <= parts_.inline_bytes)
    lanes_.run_here(*g.head);
  else
    lanes_.queue(*g.head);
}

}  // namespace troupe
