// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies between two devices: a request of each, which meet in memory that both their workers see.
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/duplicate.hpp>
#include <troupe/device/internal/hardware.hpp>
#include <troupe/device/internal/on_answer.hpp>
#include <troupe/device/internal/request_scope.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {
namespace {

// Each half waits for the other, and for what is before it in its own mailbox. While all copies of a process are in all
// mailboxes in the same order, the first one that is not done waits for nothing that waits for it.
std::recursive_mutex& order_of_copies() {
  static auto* lock = new std::recursive_mutex;  // never destroyed: devices may end after everything static
  return *lock;
}

error no_retries() {
  return error(reaction::unsupported, "memory",
               "copy between devices: retries is not 0; a copy whose worker dies cannot run again alone, as the other "
               "device goes on: copy again when it is answered context_lost");
}

error nothing_known(const std::string& name) {
  return error(reaction::retry_later, "device",
               "peer: of " + name + " nothing is known before a worker was ready; await started() first");
}

}  // namespace

std::shared_ptr<peer_channel> device_core::channel_from(const std::shared_ptr<device_core>& source) {
  const std::scoped_lock guard(peers_lock_);
  std::erase_if(peers_, [](const auto& p) { return p->source_is_gone(); });
  const auto at = std::find_if(peers_.begin(), peers_.end(), [&](const auto& p) { return p->is_from(source); });
  if (at != peers_.end()) return *at;
  auto made = std::make_shared<peer_channel>(source, source->name());
  const auto seen = peer(*source);
  const bool alike = workers_allocate_ == source->workers_allocate_ && options_.engine == source->options_.engine;
  if (!alike || !options_.peer_access || !source->options_.peer_access || (seen && !seen->access))
    made->goes_through_host();
  peers_.push_back(made);
  const std::scoped_lock theirs(source->link_lock_);
  std::erase_if(source->seen_through_, [](const auto& p) { return p.expired(); });
  source->seen_through_.push_back(made);
  return made;
}

// Where the workers see it. What they cannot open would end them, so it is tried before.
result<block_ref> device_core::see(peer_channel& through, const std::shared_ptr<const memory_file>& file) {
  if (auto there = through.seen(file)) return there;
  auto fd = TROUPE_TRY(duplicate(file->fd(), "copy between devices: dup"));
  if (workers_allocate_)
    TROUPE_TRY(ask_a_worker(
        [&](allocation_client& m, std::int64_t deadline) { return m.try_to_open(fd, file->size(), deadline); }));
  auto made = memory_->attach(memory_kind::device, file->size(), std::move(fd), true);
  if (made) through.now_seen(file, *made);
  return made;
}

void device_core::copy_from_peer(const std::shared_ptr<device_core>& from, const memory_range& to,
                                 const memory_range& source, const call_options& options,
                                 const std::shared_ptr<request_scope>& scope, ref<peer_answer> answer) {
  const auto through = channel_from(from);
  std::optional<error> trouble;
  block_ref mapped;
  std::uint64_t address = 0;
  if (!source.owner)
    trouble = error(reaction::caller_bug, "memory",
                    "copy between devices: the source is an empty buffer (never allocated, or moved from)");
  else if (source.owner->address == 0)
    trouble = detail::why_stale(source);
  else if (options.retries != 0)
    trouble = no_retries();
  if (!trouble && !through->is_staged()) {
    if (const auto found = from->file_of(source, "copy between devices"); !found) {
      trouble = found.error();
      // Memory that was adopted has no descriptor, but its own worker can read it.
      if (trouble->reaction() == reaction::unsupported) trouble.reset();
    } else if (auto there = see(*through, found->first)) {
      address = (*there)->address + found->second;
      mapped = std::move(*there);
    } else if (there.error().reaction() == reaction::stopped) {
      trouble = there.error();
    } else if (there.error().reaction() != reaction::retry_later) {  // then only this copy goes through host memory
      through->goes_through_host();
    }
  }
  const bool direct = mapped.get() != nullptr;
  const staging_plan plan = direct ? staging_plan{source.bytes, source.bytes, 1}
                                   : staging_plan::for_bytes(std::max<std::uint64_t>(source.bytes, 1), staging_);
  std::shared_ptr<peer_copy> copy;
  if (!trouble) {
    const auto at = through->take(*from->memory_, *memory_, direct ? sizeof(staging_header) : plan.block_bytes());
    if (at)
      copy = std::make_shared<peer_copy>(through, *at, plan, source.owner, std::move(mapped));
    else
      trouble = at.error();
  }
  const meeting at = copy ? copy->at() : meeting();
  if (direct)
    send_halves(from,
                memory::peer_show{.source = in<std::byte>(source), .bytes = source.bytes, .meeting = at.at_source},
                memory::peer_take{
                    .target = out<std::byte>(to), .bytes = source.bytes, .from = address, .meeting = at.at_target},
                copy, trouble, options, scope, std::move(answer));
  else
    send_halves(from,
                memory::peer_send{.source = in<std::byte>(source),
                                  .bytes = source.bytes,
                                  .meeting = at.at_source,
                                  .chunk_bytes = plan.chunk_bytes,
                                  .chunks = plan.chunks},
                memory::peer_receive{.target = out<std::byte>(to),
                                     .bytes = source.bytes,
                                     .meeting = at.at_target,
                                     .chunk_bytes = plan.chunk_bytes,
                                     .chunks = plan.chunks},
                copy, trouble, options, scope, std::move(answer));
}

// The source's half first: when it is refused, nobody would come to the other one.
template <class Give, class Take>
void device_core::send_halves(const std::shared_ptr<device_core>& from, const Give& give, const Take& take,
                              const std::shared_ptr<peer_copy>& copy, const std::optional<error>& trouble,
                              const call_options& options, const std::shared_ptr<request_scope>& scope,
                              ref<peer_answer> answer) {
  checker taking(take, memory_, memory_->generation());
  if (take.bytes < 1 && trouble) taking.fail(*trouble);  // which has no size
  take.check(taking);
  if (trouble) taking.fail(*trouble);
  auto given = detail::new_answer(from), taken = detail::new_answer(shared_from_this());
  const bool asks_source = !taking.finish();
  if (asks_source) {
    // Whoever waits for room does so before the order is fixed, and everybody in the same sequence.
    const auto wait_for_room = [&](device_core& core) {
      const std::int64_t end = scope != nullptr ? scope->deadline_ns() : no_deadline;
      return core.take_slot(options, std::min(core.deadline_after(options.timeout), end), scope.get());
    };
    const bool ours_first = std::less<>()(this, from.get());
    std::uint32_t ours = ours_first ? wait_for_room(*this) : ledger::none;
    const std::uint32_t theirs = wait_for_room(*from);
    if (!ours_first) ours = wait_for_room(*this);
    const answering later(*this);  // nobody else's code runs under the lock
    const std::scoped_lock guard(order_of_copies());
    checker giving(give, from->memory_, from->memory_->generation());
    give.check(giving);
    if (ours == ledger::none) giving.fail(why_no_slot(scope.get()));
    const peer_half source{copy, true, theirs}, target{copy, false, ours};
    const submission sent =
        from->submit(detail::info_of<Give>, &give, giving, given.get(), &answer->source, options, {}, {}, &source);
    if (!sent) taking.fail(sent.error());
    submit(detail::info_of<Take>, &take, taking, taken.get(), &answer->link, options, scope, {}, &target);
  } else {
    submit(detail::info_of<Take>, &take, taking, taken.get(), &answer->link, options, scope);
  }
  if (copy && asks_source)  // an answer that never comes would never let go of what waits for it
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

// The device lets go of memory that others see.
void device_core::hide_from_peers(const std::shared_ptr<const memory_file>& file) noexcept {
  for (const auto& p : seen_through_)
    if (auto channel = p.lock()) post(*loop_, [channel, file] { channel->hide(file.get()); });
}

result<peer_info> device_core::peer(device_core& other) {
  const bool allowed = options_.peer_access && other.options_.peer_access;
  if (!workers_allocate_ && !other.workers_allocate_)
    return peer_info{.access = allowed, .link = peer_link::memory, .native_atomics = true, .performance_rank = 0};
  if (workers_allocate_ != other.workers_allocate_ || options_.engine != other.options_.engine)
    return peer_info{.link = peer_link::none};
  const device_hardware here = hardware(), there = other.hardware();
  if (here.pci.empty()) return nothing_known(name());
  if (there.pci.empty()) return nothing_known(other.name());
  if (here.pci == there.pci)
    return peer_info{.access = allowed, .link = peer_link::same_device, .native_atomics = true, .performance_rank = 0};
  const auto at = std::find_if(here.peers.begin(), here.peers.end(), [&](const auto& p) { return p.pci == there.pci; });
  if (at == here.peers.end()) return peer_info{.link = link_between(here.pci, there.pci)};
  peer_info out = at->seen;
  out.access &= allowed;
  return out;
}

result<void> device_core::enable_peer(const std::shared_ptr<device_core>& other) {
  if (other.get() == this) return {};
  const auto through = channel_from(other);
  const auto refused = [&](const std::string& why) {
    return error(reaction::unsupported, "device",
                 "peer: " + name() + " has no access to the memory of " + other->name() + why +
                     "; copy_from works all the same, through host memory");
  };
  if (through->is_staged()) return refused("");
  std::vector<std::shared_ptr<const memory_file>> files;
  {
    const std::scoped_lock guard(other->link_lock_);
    for (const held_segment& s : other->segments_)
      if (s.kind == memory_kind::device && !s.theirs) files.push_back(s.file);
  }
  for (const auto& file : files)
    if (auto there = see(*through, file); !there) {
      if (there.error().reaction() == reaction::retry_later || there.error().reaction() == reaction::stopped)
        return there.error();
      through->goes_through_host();
      return refused(" (" + there.error().text() + ")");
    }
  return {};
}

std::vector<peer_statistics> device_core::peers() {
  std::vector<peer_statistics> out;
  const std::scoped_lock guard(peers_lock_);
  for (const auto& p : peers_)
    if (!p->source_is_gone()) out.push_back(p->statistics());
  return out;
}

std::uint64_t device_core::trim_peers() {
  const std::scoped_lock guard(peers_lock_);
  std::uint64_t freed = 0;
  for (const auto& p : peers_) freed += p->trim();
  return freed;
}

}  // namespace troupe
