// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <memory>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/core/core.hpp>
#include <troupe/device/device.hpp>
#include <troupe/device/library_access.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {

using detail::new_answer, detail::when_answered;

waiter* detail::helper_of(const std::shared_ptr<device_core>& core) noexcept { return core ? &core->reactor : nullptr; }

void request_link::cancel() noexcept {
  if (slot != UINT32_MAX && !core->admission.left())
    core->completion.cancel(slot, ticket, {"cancelled before it started", reaction::retry_later, ECANCELED});
}

device::device(std::shared_ptr<device_core> core) noexcept : core_(std::move(core)) {}

const memory_owner* device::owner() const noexcept { return &core_->memory; }
std::uint64_t device::generation() const noexcept { return core_->memory.generation(); }
const std::string& device::name() const noexcept { return core_->options.name.str(); }
device_state device::state() const noexcept {
  return core_->admission.left() ? device_state::stopped : core_->events.state();
}
pending<void> device::started() const { return core_->when_ready(); }
device_watch device::watch() const {
  if (!core_->admission.left()) return device_watch(core_->events.streams().watch(core_->shared_from_this()));
  auto none = std::make_shared<event_stream>(core_);
  none->end();
  return device_watch(std::move(none));
}
std::shared_ptr<const fault_record> device::last_fault() const {
  return core_->admission.left() ? nullptr : core_->faults.last();
}
pending<void> device::stopped() const { return core_->when_stopped(); }
std::uint64_t device::trim() const { return core_->admission.left() ? 0 : core_->memory.trim() + core_->peers.trim(); }

pending<void> device::reset() const { return core_->reset(); }

pending<void> device::close() const { return core_->close(false); }
pending<void> device::close_now() const { return core_->close(true); }

accepted device::submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                        request_link* link, const call_options& options) const {
  return core_->mailbox.submit(info, request, checked, answer, link, options, scope_);
}

device device::within(const scope_options& o) const {
  device mine(core_);
  mine.scope_ = request_scope::make(core_->shared(core_->mailbox), core_->loop.deadline_after(o.timeout), o, scope_);
  return mine;
}

device library_access::unscoped() const { return device(device_.core_); }

pending<void> device::room(std::uint32_t requests) const { return core_->mailbox.room(requests, scope_, core_); }

device_statistics device::statistics() const {
  if (core_->admission.left()) return {.name = name(), .engine = core_->options.engine, .state = device_state::stopped};
  core_->completion.drive();
  device_memory& m = core_->memory;
  return {.name = core_->options.name.str(),
          .engine = core_->options.engine,
          .engine_reason = core_->engine_reason,
          .ordinal = core_->options.ordinal,
          .state = core_->events.state(),
          .generation = m.generation(),
          .hardware = core_->hardware.hardware(),
          .memory = m.statistics(memory_kind::device),
          .host_memory = m.statistics(memory_kind::host),
          .lanes = core_->hardware.lanes(),
          .depth = core_->requests.in_flight(),
          .capacity = core_->requests.capacity(),
          .completed = core_->completion.completed(),
          .failed = core_->completion.failed(),
          .rejected = core_->mailbox.rejected(),
          .engines = core_->hardware.engines(),
          .worker_pid = core_->worker.pid() > 0 ? std::optional(core_->worker.pid()) : std::nullopt,
          .standby_pids = core_->workers.standby_pids(),
          .faults = core_->faults.count(),
          .quarantined = core_->quarantine.quarantined(),
          .peers = core_->peers.statistics()};
}

buffer<bool> device::upload(const std::vector<bool>& values, const alloc_options& o) const {
  const auto unpacked = std::make_unique<bool[]>(values.size());
  std::ranges::copy(values, unpacked.get());
  return upload(std::span<const bool>(unpacked.get(), values.size()), o);
}
pending<std::uint64_t> device::ping(std::uint64_t value) const { return ask(memory::ping{.value = value}); }
pending<void> device::sync() const {
  if (!core_->downloads.under_way() || core_->admission.left()) [[likely]]
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

}  // namespace troupe
