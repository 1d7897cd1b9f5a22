// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/processor/prefetch.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/worker/schedule/pump.hpp>

namespace troupe {
namespace {

// How many requests ahead of the one being taken are prefetched, and how many bytes of each record.
constexpr std::uint32_t looked_ahead = 2;
// If at least this many requests follow, a request that could be enqueued at once is left to its lane's thread while
// the pump takes the next one. For fewer it does not pay to wake that thread.
constexpr std::uint32_t long_queue = 16;
constexpr int long_rest = 256;  // 5 to 12 µs
constexpr std::size_t usual_record_bytes = 6 * 64;
constexpr std::size_t most_known_failures = 4096;

failure_ptr failed_here(const error& why, const request_id& id) {
  return std::make_shared<failure>(
      failure{.reaction = why.reaction(), .code = why.code(), .domain = why.domain(), .text = why.text(), .first = id});
}

error checked_too_long_ago() {
  return error(reaction::retry_later, "worker",
               "too many requests have failed since this one was checked, so the worker no longer knows whether one of "
               "them should have written an input; send it again");
}

error restarted_meanwhile() {
  return error(reaction::context_lost, "worker",
               "the device was restarted after this request was checked, so its inputs may have lost their content; "
               "write them again, then send the request again");
}

error memory_not_mapped() {
  return error(reaction::context_lost, "worker", "the worker ends before it has mapped the memory of this request");
}

}  // namespace

pump::pump(const parts& p)
    : parts_(p),
      operations_(std::make_unique<operation[]>(p.channel.at.capacity)),
      dispatcher_({.lanes = p.lanes,
                   .inline_bytes = p.inline_bytes,
                   .coalesce = p.coalesce,
                   .most_in_order = p.most_in_order,
                   .lanes_have_cores = p.lanes_have_cores},
                  p.channel, operations_.get(), p.reports, failures_, p.wait, p.threads, p.gpu) {
  lanes().when_context_lost(p.context_lost);
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
      // The sender writes to memory beside that word. If another thread starts the operation, that thread prefetches
      // the word.
      if (known_behind_ == 0 || parts_.gpu == nullptr) will_write(&parts_.channel.slot(later->slot), 1);
    }
    parts_.commands.pop();
    if (accept(*sent)) [[likely]]
      return stepped::something;
    dispatcher_.close_group();  // its members have positions in their lane
    return stepped::corrupt;
  }
  if (!dispatcher_.has_group() || dispatcher_.group_can_wait()) return stepped::nothing;
  dispatcher_.close_group();
  return stepped::something;
}

bool pump::idle() const noexcept {
  bool all = !dispatcher_.has_group();
  for (std::uint32_t l = 0; l < max_lanes; ++l) all &= dispatcher_.lanes().idle(l);
  return all;
}

result<void> pump::run() {
  spin_experience known(parts_.wait);
  adaptive_wait wait(known);
  while (true) {
    const stepped how = step();
    if (how == stepped::something) continue;
    if (how == stepped::corrupt)
      return error(reaction::fatal, "worker", "the mailbox is corrupt: a record in it cannot be a request");
    lanes().device().mark_all();
    // Each look at the mailbox delays the senders, which write to it.
    const int rest = lanes().has_backlog() ? long_rest : 0;
    const auto arrived = [&] {
      for (int i = 0; i < rest; ++i) spin_hint();
      return !parts_.commands.empty() || (dispatcher_.has_group() && !dispatcher_.group_can_wait());
    };
    const auto in_vain = [&] {
      const std::uint32_t here = current_core();
      protocol::note_core(parts_.channel.page().pump_core, here);
      return here != 0 && parts_.channel.application().shared_core.load(std::memory_order_relaxed) == here;
    };
    if (wait.spin(arrived, in_vain)) continue;
    if (dispatcher_.has_group()) {  // otherwise the group would stay open while this thread sleeps
      dispatcher_.close_group();
      continue;
    }
    if (stopping_.load()) break;
    parts_.reports.announce_idle();
    if (!parts_.commands.prepare_park()) continue;
    if (stopping_.load(std::memory_order_seq_cst))
      parts_.commands.cancel_park();
    else
      wait.sleep_after_spin([this] { parts_.commands.park(); });
    protocol::note_core(parts_.channel.page().pump_core, current_core());
  }
  lanes().drain();
  parts_.reports.announce_idle();
  return {};
}

// Runs all operations first, because they may use the library that is about to be closed.
void pump::restart_libraries(std::uint64_t which) {
  dispatcher_.close_group();
  lanes().drain();
  if (lanes().device().is_lost()) return;  // calls may still be running
  for (std::uint32_t library = 0; which != 0; ++library, which >>= 1)
    if ((which & 1) != 0) {
      const std::string name = parts_.engines.restart(library);
      if (parts_.restarted) parts_.restarted(name);
    }
}

// Earlier requests must not wait for what the pump is about to wait for.
void pump::before_a_pause() {
  dispatcher_.close_group();
  lanes().device().mark_all();
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
  for (std::uint32_t i = 0; i < max_lanes; ++i) issued[i] = lanes().issued(i);
  failures_.harvest(issued, [this](const failure_log::entry& e) {
    hazards().poison(e.accesses, e.at, e.number);
    if (e.number > parts_.most_poison) hazards().forget_poison_up_to(e.number - parts_.most_poison);
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

bool pump::find_accesses(operation& op, const protocol::parsed_command& command) {
  if (!command.list) [[likely]] {
    op.touched = {reinterpret_cast<const memory_access*>(command.accesses.data()), command.head.access_count};
    return true;
  }
  if (!command.list->is_within(parts_.memory_begin, parts_.memory_end)) return false;
  op.touched = {};
  if (!await_segments(command.head.segments)) {
    op.doomed = failed_here(memory_not_mapped(), op.id());
    return true;
  }
  const auto listed = command.list->read();
  if (listed) op.touched = *listed;
  return listed.has_value();
}

operation& pump::begin_operation(const sent_slot& sent, const protocol::parsed_command& command) {
  operation& op = operations_[sent.slot];
  op.ticket = sent.ticket;
  op.slot = sent.slot;
  op.what = nullptr;
  op.doomed.reset();
  op.awaited.store(false, std::memory_order_relaxed);
  op.timed = command.head.flags.timed();
  op.together = 1;
  op.payload = command.payload.data();
  return op;
}

void pump::find_engine(operation& op, const protocol::command_header& head) {
  const engine_set::found* const loaded = parts_.engines.loaded_operation(head.opcode);
  if (loaded == nullptr) [[unlikely]]
    before_a_pause();  // loading an engine takes long
  const auto found =
      loaded != nullptr ? result<engine_set::found>(*loaded) : parts_.engines.find(head.library, head.opcode);
  if (found && found->operation->payload_bytes == head.payload_bytes) [[likely]] {
    op.what = found->operation;
    op.engine = found->engine;
    op.library = found->library;
    return;
  }
  const error disagree(reaction::unsupported, "worker",
                       "the engine expects another layout of this request's fields; rebuild the engine and the "
                       "application from the same headers");
  op.doomed = failed_here(found ? disagree : found.error(), op.id());
}

// A request may read data only if it was checked in this generation and no failure has made them stale.
void pump::check_inputs(operation& op, const protocol::command_header& head) const {
  if (!op.doomed && op.inputs.poison() != 0) op.doomed = passed_on(known_failure(op.inputs.poison()), op.id());
  const bool old = head.generation != generation_;
  if (!old && head.reports_seen >= hazards().forgotten()) [[likely]]
    return;
  if ((old && head.flags.bound()) ||
      std::any_of(op.touched.begin(), op.touched.end(), [](const auto& a) { return a.mode != access_mode::write; }))
    op.doomed = failed_here(old ? restarted_meanwhile() : checked_too_long_ago(), op.id());
}

void pump::await_memory(operation& op, std::uint32_t segments) noexcept {
  if (segments != 0 && !await_segments(segments) && !op.doomed) [[unlikely]]
    op.doomed = failed_here(memory_not_mapped(), op.id());
}

// The steps of docs/design.md. Progress is read first, then failures, then hazards: an operation that counts as
// complete has reported its failure already. Progress is also read before the slot's operation is touched: the last
// operation of this slot is complete, so its lane no longer uses it.
bool pump::accept(const sent_slot& sent) {
  const auto command = protocol::parse_command(sent.record);
  if (!command) [[unlikely]]
    return false;
  const protocol::command_header& head = command->head;
  std::array<std::uint64_t, max_lanes> done;
  for (std::uint32_t i = 0; i < max_lanes; ++i) done[i] = lanes().done(i);
  operation& op = begin_operation(sent, *command);
  if (!find_accesses(op, *command)) [[unlikely]]
    return false;
  if (const std::uint64_t broken = lanes().take_broken()) [[unlikely]]
    restart_libraries(broken);
  take_failures(done);
  hazards().collect(op.touched, done, head.reports_seen, op.waits, op.inputs);
  find_engine(op, head);
  check_inputs(op, head);
  await_memory(op, head.segments);
  dispatcher_.dispatch(op, head.flags, known_behind_ > 0);
  return true;
}

}  // namespace troupe
