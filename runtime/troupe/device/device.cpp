// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <troupe/async/deferred_continuations.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/completion/transfer.hpp>
#include <troupe/device/core.hpp>
#include <troupe/device/device.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {

using detail::new_answer, detail::when_answered;

namespace {

pending<void> answered(error why) { return make_ready<void>(std::move(why)); }

error no_room(std::uint64_t bytes) {
  return error(reaction::retry_later, "memory",
               cat("download: the application has no memory for a vector of ", bytes, " bytes"));
}

}  // namespace

waiter* detail::helper_of(const std::shared_ptr<device_core>& core) noexcept { return core ? &core->waiting : nullptr; }

void request_link::cancel() noexcept {
  if (slot != UINT32_MAX) core->answers.cancel(slot, ticket, "cancelled before it started", reaction::retry_later);
}

device::device(std::shared_ptr<device_core> core) noexcept : core_(std::move(core)) {}

const memory_owner* device::owner() const noexcept { return &core_->memory; }
std::uint64_t device::generation() const noexcept { return core_->memory.generation(); }
const std::string& device::name() const noexcept { return core_->options.name.str(); }
device_state device::state() const noexcept { return core_->events.state(); }
pending<void> device::started() const { return core_->when_ready(); }
device_watch device::watch() const { return device_watch(core_->events.news().watch(core_)); }
std::shared_ptr<const fault_record> device::last_fault() const { return core_->faults.last(); }
pending<void> device::stopped() const { return core_->when_stopped(); }
std::uint64_t device::trim() const { return core_->memory.trim() + core_->peers.trim(); }

pending<void> device::reset() const { return core_->reset(); }

pending<void> device::close() const { return core_->close(false); }
pending<void> device::close_now() const { return core_->close(true); }

accepted device::submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                        request_link* link, const call_options& options) const {
  return core_->mailbox.submit(info, request, checked, answer, link, options, scope_);
}

device device::within(const scope_options& o) const {
  device mine(core_);
  mine.scope_ =
      request_scope::make(core_->shared(core_->mailbox), core_->loop.deadline_after(o.timeout), *o.stop, scope_);
  return mine;
}

pending<void> device::room(std::uint32_t requests) const { return core_->mailbox.room(requests, scope_, core_); }

device_statistics device::statistics() const {
  core_->answers.drive();
  device_memory& m = core_->memory;
  return {.name = core_->options.name.str(),
          .engine = core_->options.engine,
          .ordinal = core_->options.ordinal,
          .state = core_->events.state(),
          .generation = m.generation(),
          .hardware = core_->hardware.hardware(),
          .memory = m.statistics(memory_kind::device),
          .host_memory = m.statistics(memory_kind::host),
          .lanes = core_->hardware.lanes(),
          .depth = core_->requests.in_flight(),
          .capacity = core_->requests.capacity(),
          .completed = core_->answers.completed(),
          .failed = core_->answers.failed(),
          .engines = core_->hardware.engines(),
          .worker_pid = core_->worker.pid(),
          .standby_pids = core_->workers.standby_pids(),
          .faults = core_->faults.count(),
          .quarantined = core_->quarantine.quarantined(),
          .peers = core_->peers.statistics()};
}

namespace {

std::string too_few(extent count, std::size_t element_bytes) {
  const std::int64_t n = count.value();
  return cat("count is ", n, " elements of ", element_bytes, element_bytes == 1 ? " byte" : " bytes",
             "; expected at least 1");
}

memory_range allocate(device_core& core, memory_kind kind, extent count, std::size_t element_bytes,
                      const alloc_options& o) {
  const extent bytes = count * element_bytes;
  device_memory& memory = core.memory;
  auto refused = [&](std::string text) {
    return memory_range{memory.failed_buffer(0, error(reaction::caller_bug, "memory", std::move(text))), 0, 0};
  };
  if (bytes.overflowed()) return refused("alloc: the size does not fit 64 bits");
  if (bytes < 1) return refused("alloc: " + too_few(count, element_bytes));
  const auto n = static_cast<std::uint64_t>(bytes.value());
  if (core.takes.refusing()) return {memory.failed_buffer(n, core.takes.refusal()), 0, n};  // nobody could ever use it
  if (o.sealable && kind != memory_kind::device)
    return refused(
        "alloc_host: sealable is true, but the application itself can write a host_buffer whenever it likes; use "
        "alloc");
  auto made = memory.allocate(kind, n, o.alignment, o.quota, o.sealable);
  if (!made && made.error().reaction() == reaction::retry_later) {
    core.answers.drive();  // buffers of requests that have finished may not have come back yet
    made = memory.allocate(kind, n, o.alignment, o.quota, o.sealable);
  }
  if (!made) {
    memory.count_failure(kind);
    return {memory.failed_buffer(n, made.error()), 0, n};
  }
  const std::uint64_t address = (*made)->address;
  const memory_range r{std::move(*made), address, n};
  if (kind != memory_kind::sent) core.quarantine.is_fresh(r);
  return r;
}

}  // namespace

memory_range device::alloc_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const {
  memory_range r = allocate(*core_, memory_kind::device, count, element_bytes, o);
  if (o.zeroed && r.address != 0) {
    // A tell: should it be refused, the buffer is stale with the reason.
    (void)tell(memory::fill{.target = out<std::byte>(r), .bytes = r.bytes, .pattern = {}, .pattern_bytes = 1});
  }
  return r;
}

memory_range device::alloc_managed_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const {
  const extent bytes = count * element_bytes;
  device_memory& memory = core_->memory;
  const auto refused = [&](std::string text) {
    return memory_range{
        memory.failed_buffer(0, error(reaction::caller_bug, "memory", "alloc_managed: " + std::move(text))), 0, 0};
  };
  if (bytes.overflowed()) return refused("the size does not fit 64 bits");
  if (bytes < 1) return refused(too_few(count, element_bytes));
  if (o.sealable) return refused("sealable is true, but a fault takes managed memory along; use alloc");
  if (o.alignment == 0 || (o.alignment & (o.alignment - 1)) != 0 || o.alignment > 4096)
    return refused(cat("alignment is ", o.alignment, "; expected a power of two up to 4096"));
  const auto n = static_cast<std::uint64_t>(bytes.value());
  auto made = core_->exchange.make_managed(n, o.quota);
  if (!made) {
    memory.count_failure(memory_kind::device);
    return {memory.failed_buffer(n, made.error()), 0, n};
  }
  if (o.zeroed)
    (void)tell(memory::fill{.target = out<std::byte>(*made), .bytes = bytes, .pattern = {}, .pattern_bytes = 1});
  return std::move(*made);
}

memory_range device::alloc_host_bytes(extent count, std::size_t element_bytes, const alloc_options& o) const {
  memory_range r = allocate(*core_, memory_kind::host, count, element_bytes, o);
  if (o.zeroed && r.address != 0) std::memset(r.owner->host, 0, r.bytes);
  return r;
}

memory_range device::alloc_sent(extent bytes) const { return allocate(*core_, memory_kind::sent, bytes, 1, {}); }

pending<std::uint64_t> device::ping(std::uint64_t value) const { return ask(memory::ping{.value = value}); }
pending<void> device::sync() const {
  if (!core_->downloads.under_way()) [[likely]]
    return ask(memory::fence{});
  auto all = new_answer(core_), fence = new_answer(core_);
  const memory::fence r;
  checker c(r, owner(), generation());
  core_->mailbox.submit(detail::info_of<memory::fence>, &r, c, fence.get(), &all->link, {}, scope_);
  when_answered(fence, [core = core_, all](const result<void>& done) {
    core->downloads.answer_after(all->link.ticket, done, all);
  });
  return pending<void>(std::move(all));
}

pending<void> device::copy_bytes(way w, const memory_range& to, const memory_range& from, const call_options& o) const {
  const in<std::byte> source(from);
  const out<std::byte> target(to);
  switch (w) {
    case way::up:
      return ask(memory::upload{.source = source, .target = target, .bytes = from.bytes}, o);
    case way::down:
      return ask(memory::download{.source = source, .target = target, .bytes = from.bytes}, o);
    case way::across:
      break;
  }
  return ask(memory::copy{.source = source, .target = target, .bytes = from.bytes}, o);
}

pending<void> device::copy_pitched(const memory_range& to, extent to_pitch, const memory_range& from, extent from_pitch,
                                   extent width, extent rows, const call_options& o) const {
  return ask(memory::copy_2d{.source = in<std::byte>(from),
                             .target = out<std::byte>(to),
                             .width = width,
                             .rows = rows,
                             .source_pitch = from_pitch,
                             .target_pitch = to_pitch},
             o);
}

pending<void> device::fill_bytes(const memory_range& to, std::span<const std::byte> pattern,
                                 const call_options& o) const {
  memory::fill r{.target = out<std::byte>(to), .bytes = to.bytes, .pattern = {}, .pattern_bytes = pattern.size()};
  std::memcpy(r.pattern.data(), pattern.data(), pattern.size());
  return ask(r, o);
}

pending<void> device::upload_bytes(const memory_range& to, std::span<const std::byte> from,
                                   const call_options& o) const {
  auto answer = new_answer(core_);
  // A staging block that cannot be had is the upload's failure: its target goes stale with that cause.
  const bool small = from.size() <= core_->staging.one_request;
  const staging_plan plan = staging_plan::for_bytes(std::max<std::size_t>(from.size(), 1), core_->staging);
  const memory_range stage = from.empty()
                                 ? memory_range{}
                                 : allocate(*core_, memory_kind::sent, small ? from.size() : plan.block_bytes(), 1, {});
  if (small) {
    if (stage.address != 0) std::memcpy(stage.owner->host, from.data(), from.size());
    const memory::upload r{
        .source = in<std::byte>(from.empty() ? to : stage), .target = out<std::byte>(to), .bytes = from.size()};
    checker c(r, owner(), generation());
    r.check(c);
    core_->mailbox.submit(detail::info_of<memory::upload>, &r, c, answer.get(), &answer->link, o, scope_);
    return pending<void>(std::move(answer));
  }
  const memory_range progress = allocate(*core_, memory_kind::host, sizeof(staging_header), 1, {});
  const memory::stream_in r{.target = out<std::byte>(to),
                            .bytes = from.size(),
                            .staging = stage.address,
                            .progress = out<std::byte>(progress),
                            .chunk_bytes = plan.chunk_bytes,
                            .chunks = plan.chunks};
  checker c(r, owner(), generation());
  r.check(c);
  if (stage.address == 0) {
    c.fail(*detail::why_stale(stage));
  } else if (progress.address != 0) {
    std::construct_at(reinterpret_cast<sent_header*>(stage.owner->host))->digest = core_->quarantine.digest_of(from);
    std::construct_at(reinterpret_cast<staging_header*>(progress.owner->host));
  }
  if (!core_->mailbox.submit(detail::info_of<memory::stream_in>, &r, c, answer.get(), &answer->link, o, scope_,
                             stage.owner))
    return pending<void>(std::move(answer));

  sent_header& sent = *reinterpret_cast<sent_header*>(stage.owner->host);
  staging_header& h = *reinterpret_cast<staging_header*>(progress.owner->host);
  adaptive_wait wait(core_->spin_for_room);
  for (std::uint64_t i = 0; i < plan.count();) {
    // A worker that counts too far gets chunks overwritten that it has not read. `begun` tells the worker that reads
    // them.
    std::uint64_t end = i;  // of the chunks that there is room for
    const auto room = [&] {
      end = std::min(h.emptied.load(std::memory_order_seq_cst) + plan.chunks, plan.count());
      return end > i;
    };
    while (!wait.spin(room) && !answer->done()) {
      core_->sleep_in_call(*answer, room, [&] { wait.sleep_after_spin([&] { h.sleep(room, now_ns() + 5'000'000); }); });
      core_->answers.drive();
    }
    if (answer->done()) break;  // it failed or was cancelled: nobody empties chunks any more
    const std::uint64_t first = i;
    i += std::min<std::uint64_t>({end - i, core_->copies.most_parts(), plan.chunks});
    sent.begun.store(i, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    core_->copies.run(i - first, [&](std::size_t part) {
      const std::uint64_t n = first + part;
      std::memcpy(plan.chunk(&sent, n), from.data() + n * plan.chunk_bytes, plan.size(n));
    });
    h.step(sent.filled, i);
  }
  return pending<void>(std::move(answer));
}

void device::download_bytes(const memory_range& from, pending_core& state, request_link& link, destination where,
                            finisher finish, const call_options& o) const {
  const extent bytes = from.bytes;
  auto answer = new_answer(core_);
  auto held = ref<pending_core>::share(&state);
  if (from.bytes <= core_->staging.one_request) {
    const memory_range stage = from.bytes == 0 ? memory_range{} : allocate(*core_, memory_kind::host, bytes, 1, {});
    const memory::download r{
        .source = in<std::byte>(from), .target = out<std::byte>(from.bytes == 0 ? from : stage), .bytes = bytes};
    checker c(r, owner(), generation());
    r.check(c);
    core_->mailbox.submit(detail::info_of<memory::download>, &r, c, answer.get(), &link, o, scope_);
    if (link.ticket != 0) core_->downloads.begin(link.ticket);
    when_answered(answer,
                  [core = core_.get(), ticket = link.ticket, held, where, finish, stage](const result<void>& done) {
                    std::byte* to = done ? where(*held, stage.bytes) : nullptr;
                    if (to != nullptr) std::memcpy(to, stage.owner->host, stage.bytes);
                    if (to != nullptr) {
                      finish(*held, nullptr);
                    } else {
                      const error why = done ? no_room(stage.bytes) : done.error();
                      finish(*held, &why);
                    }
                    core->downloads.end(ticket);
                  });
    return;
  }
  const staging_plan plan = staging_plan::for_bytes(from.bytes, core_->staging);
  const memory_range stage = allocate(*core_, memory_kind::host, plan.block_bytes(), 1, {});
  const memory::stream_out r{.source = in<std::byte>(from),
                             .bytes = bytes,
                             .staging = stage.address,
                             .chunk_bytes = plan.chunk_bytes,
                             .chunks = plan.chunks};
  checker c(r, owner(), generation());
  r.check(c);
  if (stage.address == 0)
    c.fail(*detail::why_stale(stage));
  else
    std::construct_at(reinterpret_cast<staging_header*>(stage.owner->host));
  if (c.finish()) {
    core_->mailbox.submit(detail::info_of<memory::stream_out>, &r, c, answer.get(), &link, o,
                          scope_);  // which refuses it, as any other
    return finish(state, &answer->take().error());
  }
  std::byte* to = where(state, from.bytes);
  if (to == nullptr) {
    const error nowhere = no_room(from.bytes);
    return finish(state, &nowhere);
  }
  auto moving = std::make_shared<transfer>(stage.owner, plan, to, std::move(held), finish);
  core_->mailbox.submit(detail::info_of<memory::stream_out>, &r, c, answer.get(), &link, o, scope_, stage.owner);
  moving->ticket = link.ticket;
  if (link.ticket != 0) core_->downloads.begin(link.ticket);
  core_->downloads.add(moving);
  core_->waiting.wake();
  when_answered(answer, [moving](const result<void>& done) { moving->request_answered(done); });
  core_->answers.drive();
}

pending<void> device::download_into(const memory_range& from, std::span<std::byte> to, const call_options& o) const {
  struct into_span final : detail::asked<void> {
    using asked::asked;
    std::byte* to = nullptr;
  };
  if (to.size() < from.bytes) {
    return answered(error(reaction::caller_bug, "memory",
                          cat("download: the span holds ", to.size(), " bytes; expected at least ", from.bytes,
                              ", the size of the buffer (or download a slice of it)")));
  }
  auto state = ref<into_span>::adopt(new into_span(core_));
  state->to = to.data();
  download_bytes(
      from, *state, state->link, [](pending_core& s, std::size_t) noexcept { return static_cast<into_span&>(s).to; },
      [](pending_core& s, const error* why) noexcept {
        auto& self = static_cast<into_span&>(s);
        if (why != nullptr)
          self.complete(*why);
        else
          self.complete({});
      },
      o);
  return pending<void>(std::move(state));
}

}  // namespace troupe
