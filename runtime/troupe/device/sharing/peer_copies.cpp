// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies between two devices: one request on each, which share memory that the workers of both map.
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/device/sharing/duplicate.hpp>
#include <troupe/device/sharing/memory_exchange.hpp>
#include <troupe/device/sharing/peer_copies.hpp>
#include <troupe/device/workers/hardware.hpp>
#include <troupe/device/workers/hardware_view.hpp>
#include <troupe/device/workers/shared_segments.hpp>
#include <troupe/device/workers/worker_pool.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {
namespace {

error no_retries(std::uint32_t retries) {
  return error(reaction::unsupported, "memory",
               cat("copy between devices: call_options::retries is ", retries,
                   "; expected 0, because one device alone cannot repeat the copy: on context_lost, copy again"));
}

error not_known_yet(const std::string& name) {
  return error(reaction::retry_later, "device",
               "peer: the hardware of " + name + " is unknown until a worker has become ready; await started() first");
}

}  // namespace

peer_copies::peer_copies(device_board& board, shared_segments& segments, worker_pool& workers,
                         memory_exchange& exchange, request_mailbox& mailbox, hardware_view& hardware) noexcept
    : board_(board),
      segments_(segments),
      workers_(workers),
      exchange_(exchange),
      mailbox_(mailbox),
      hardware_(hardware) {}

std::shared_ptr<peer_channel> peer_copies::channel_from(const std::shared_ptr<peer_copies>& source) {
  const std::scoped_lock guard(lock_);
  std::erase_if(channels_, [](const auto& p) { return p->source_is_gone(); });
  const auto at = std::find_if(channels_.begin(), channels_.end(), [&](const auto& p) { return p->is_from(source); });
  if (at != channels_.end()) return *at;
  auto made = std::make_shared<peer_channel>(source, source->board_.options.name.str());
  const auto seen = this->seen(*source);
  const bool alike = board_.gpu == source->board_.gpu && board_.options.engine == source->board_.options.engine;
  if (!alike || !board_.options.peer_access || !source->board_.options.peer_access || (seen && !seen->access))
    made->use_host_memory();
  channels_.push_back(made);
  source->segments_.add_peer(made);
  return made;
}

// Returns the block at which the target's workers map the file. Mapping is tried first, because memory that they cannot
// map would end them.
result<block_ref> peer_copies::map_source(peer_channel& through, const std::shared_ptr<const memory_file>& file) {
  if (auto mapped = through.find_mapped(file)) return mapped;
  auto fd = TROUPE_TRY(duplicate(file->fd(), "copy between devices: dup"));
  if (board_.gpu)
    TROUPE_TRY(workers_.ask_one(
        [&](allocation_client& m, std::int64_t deadline) { return m.try_to_open(fd, file->size(), deadline); }));
  auto made = board_.memory.attach(memory_kind::device, file->size(), std::move(fd), true);
  if (made) through.note_mapped(file, *made);
  return made;
}

void peer_copies::copy(const std::shared_ptr<peer_copies>& from, const memory_range& to, const memory_range& source,
                       const call_options& options, const std::shared_ptr<request_scope>& scope,
                       ref<peer_answer> answer) {
  const auto through = channel_from(from);
  std::optional<error> failure;
  block_ref mapped;
  std::uint64_t address = 0;
  if (!source.owner)
    failure = error(reaction::caller_bug, "memory",
                    "copy between devices: the source is an empty buffer (never allocated, or moved from)");
  else if (source.owner->address == 0)
    failure = detail::why_stale(source);
  else if (options.retries != 0)
    failure = no_retries(options.retries);
  if (!failure && !through->is_staged()) {
    if (const auto found = from->exchange_.file_of(source, "copy between devices"); !found) {
      failure = found.error();
      // Adopted memory has no descriptor, but the source's own worker can read it and copy it through host memory.
      if (failure->reaction() == reaction::unsupported) failure.reset();
    } else if (auto there = map_source(*through, found->first)) {
      address = (*there)->address + found->second;
      mapped = std::move(*there);
    } else if (there.error().reaction() == reaction::stopped) {
      failure = there.error();
    } else if (there.error().reaction() != reaction::retry_later) {  // on retry_later, only this copy uses host memory
      through->use_host_memory();
    }
  }
  const bool direct = mapped.get() != nullptr;
  const staging_plan plan =
      direct ? staging_plan{source.bytes, source.bytes, 1}
             : staging_plan::for_bytes(std::max<std::uint64_t>(source.bytes, 1), board_.staging.between_devices());
  std::shared_ptr<peer_copy> copy;
  if (!failure) {
    const auto at =
        through->take(from->board_.memory, board_.memory, direct ? sizeof(staging_header) : plan.block_bytes());
    if (at)
      copy = std::make_shared<peer_copy>(through, *at, plan, source.owner, std::move(mapped));
    else
      failure = at.error();
  }
  const staging_place at = copy ? copy->at() : staging_place();
  if (direct)
    send_halves(*from,
                memory::peer_show{.source = in<std::byte>(source), .bytes = source.bytes, .staging = at.at_source},
                memory::peer_take{
                    .target = out<std::byte>(to), .bytes = source.bytes, .from = address, .staging = at.at_target},
                copy, failure, options, scope, std::move(answer));
  else
    send_halves(*from,
                memory::peer_send{.source = in<std::byte>(source),
                                  .bytes = source.bytes,
                                  .staging = at.at_source,
                                  .chunk_bytes = plan.chunk_bytes,
                                  .chunks = plan.chunks},
                memory::peer_receive{.target = out<std::byte>(to),
                                     .bytes = source.bytes,
                                     .staging = at.at_target,
                                     .chunk_bytes = plan.chunk_bytes,
                                     .chunks = plan.chunks},
                copy, failure, options, scope, std::move(answer));
}

// Sends the source's half first: if it is refused, the target's half must not wait for it.
template <class Give, class Take>
void peer_copies::send_halves(peer_copies& from, const Give& give, const Take& take,
                              const std::shared_ptr<peer_copy>& copy, const std::optional<error>& failure,
                              const call_options& options, const std::shared_ptr<request_scope>& scope,
                              ref<peer_answer> answer) {
  checker taking(take, &board_.memory, board_.memory.generation());
  if (take.bytes < 1 && failure) taking.fail(*failure);  // first, because the size is unknown
  take.check(taking);
  if (failure) taking.fail(*failure);
  auto given = detail::new_answer(answer->source.core), taken = detail::new_answer(answer->link.core);
  const bool asks_source = !taking.finish();
  if (asks_source) {
    // Waits for room before taking the locks. Every thread waits for the two devices in the same order.
    const std::int64_t start_deadline = mailbox_.start_deadline_of(options, scope.get());
    const auto wait_for_room = [&](peer_copies& device) {
      return device.mailbox_.take_slot(options, start_deadline, scope.get());
    };
    const bool ours_first = std::less<>()(this, &from);
    std::uint32_t ours = ours_first ? wait_for_room(*this) : ledger::none;
    const std::uint32_t theirs = wait_for_room(from);
    if (!ours_first) ours = wait_for_room(*this);
    const answering later(board_.to_reactor);  // so that no continuation runs under the locks
    // Each half waits for the other half, and for earlier requests in its own mailbox. A copy holds the locks of both
    // devices while it gets its two tickets. So two copies with devices in common have the same order in each common
    // mailbox, that in which they held the locks. Hence copies cannot deadlock: the first unfinished copy waits for
    // nothing that waits for it.
    const std::scoped_lock guard(order_, from.order_);
    checker giving(give, &from.board_.memory, from.board_.memory.generation());
    give.check(giving);
    if (ours == ledger::none) giving.fail(mailbox_.why_no_slot(options, start_deadline, scope.get()));
    if (theirs == ledger::none) giving.fail(from.mailbox_.why_no_slot(options, start_deadline, scope.get()));
    const request_mailbox::peer_half source{copy, true, theirs, start_deadline},
        target{copy, false, ours, start_deadline};
    // Only the target's half belongs to the scope: when that half ends, `break_off` ends the source's half.
    const accepted sent = from.mailbox_.submit(detail::info_of<Give>, &give, giving, given.get(), &answer->source,
                                               options, {}, {}, &source);
    if (!sent) taking.fail(sent.error());
    mailbox_.submit(detail::info_of<Take>, &take, taking, taken.get(), &answer->link, options, scope, {}, &target);
  } else {
    mailbox_.submit(detail::info_of<Take>, &take, taking, taken.get(), &answer->link, options, scope);
  }
  if (copy && asks_source)  // otherwise the answer never completes, and would never release the continuation
    detail::when_answered(given, [copy](const result<void>& how) {
      if (!how) copy->source_failed(how.error());
    });
  detail::when_answered(
      taken, [copy, answer, bytes = static_cast<std::uint64_t>(take.bytes.value())](const result<void>& how) {
        if (how)
          copy->through().count(bytes);
        else if (copy)
          copy->break_off();
        answer->complete(how);
      });
}

result<peer_info> peer_copies::seen(peer_copies& other) {
  const bool allowed = board_.options.peer_access && other.board_.options.peer_access;
  if (!board_.gpu && !other.board_.gpu)
    return peer_info{.access = allowed, .link = peer_link::memory, .native_atomics = true, .performance_rank = 0};
  if (board_.gpu != other.board_.gpu || board_.options.engine != other.board_.options.engine)
    return peer_info{.link = peer_link::none};
  const device_hardware here = hardware_.hardware(), there = other.hardware_.hardware();
  if (here.pci.empty()) return not_known_yet(board_.options.name.str());
  if (there.pci.empty()) return not_known_yet(other.board_.options.name.str());
  if (here.pci == there.pci)
    return peer_info{.access = allowed, .link = peer_link::same_device, .native_atomics = true, .performance_rank = 0};
  const auto at = std::find_if(here.peers.begin(), here.peers.end(), [&](const auto& p) { return p.pci == there.pci; });
  if (at == here.peers.end()) return peer_info{.link = link_between(here.pci, there.pci)};
  peer_info out = at->seen;
  out.access &= allowed;
  return out;
}

result<void> peer_copies::enable(const std::shared_ptr<peer_copies>& other) {
  if (other.get() == this) return {};
  const auto through = channel_from(other);
  const auto refused = [&](const std::string& why) {
    return error(reaction::unsupported, "device",
                 "peer: " + board_.options.name.str() + " has no access to the memory of " +
                     other->board_.options.name.str() + why + "; copy_between still works, through host memory");
  };
  if (through->is_staged()) return refused("");
  for (const auto& file : other->segments_.own_files())
    if (auto there = map_source(*through, file); !there) {
      if (there.error().reaction() == reaction::retry_later || there.error().reaction() == reaction::stopped)
        return there.error();
      through->use_host_memory();
      return refused(" (" + there.error().text() + ")");
    }
  return {};
}

std::vector<peer_statistics> peer_copies::statistics() {
  std::vector<peer_statistics> out;
  const std::scoped_lock guard(lock_);
  for (const auto& p : channels_)
    if (!p->source_is_gone()) out.push_back(p->statistics());
  return out;
}

std::uint64_t peer_copies::trim() {
  const std::scoped_lock guard(lock_);
  std::uint64_t freed = 0;
  for (const auto& p : channels_) freed += p->trim();
  return freed;
}

}  // namespace troupe
