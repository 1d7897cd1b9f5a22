// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/keep_content.hpp>

namespace troupe::detail {

namespace {

error wrong_buffer(std::string_view call, std::string_view what) {
  return error(reaction::caller_bug, "memory", cat(call, ": the buffer ", what));
}

std::optional<error> why_not_of(const device& gpu, std::string_view call, const memory_range& r) {
  if (!r.owner)
    return wrong_buffer(call, "is empty (never allocated, or moved from); expected a buffer of " + gpu.name());
  if (r.owner->owner != &device_access::core(gpu)->memory)
    return wrong_buffer(call, "belongs to another device than " + gpu.name());
  return std::nullopt;
}

// Returns the slot of a pending request that uses the memory. The caller holds the drive lock of completion.
std::optional<std::uint32_t> user_of(const ledger& requests, const memory_range& r) {
  for (std::uint32_t slot = 0; slot < requests.capacity(); ++slot) {
    const ledger_entry& e = requests[slot];
    if (!e.in_flight.load(std::memory_order_seq_cst) || e.answered) continue;
    for (const auto& [a, where] : e.accesses())
      if (where.get() == r.owner.get() && a.begin < r.address + r.bytes && r.address < a.end) return slot;
  }
  return std::nullopt;
}

}  // namespace

result<void> keep_content(const device& gpu, const memory_range& r) {
  if (auto wrong = why_not_of(gpu, "keep_content", r)) return std::move(*wrong);
  device_core& core = *device_access::core(gpu);
  if (core.admission.left()) return core.admission.refusal();
  core.completion.drive();  // reads the reports of requests that have failed by now
  auto kept = core.memory.keep(*r.owner.get(), r.address, r.address + r.bytes);
  if (kept) return {};
  error::details d = kept.error().all();
  d.text = "keep_content: the buffer has not kept its content: " + d.text;
  return error(std::move(d));
}

result<void> written(const device& gpu, const memory_range& r) {
  if (auto wrong = why_not_of(gpu, "written", r)) return std::move(*wrong);
  device_core& core = *device_access::core(gpu);
  block& b = *r.owner.get();
  if (b.address == 0) return *why_stale(r);  // its allocation failed
  if (core.admission.refusing()) return core.admission.refusal();
  core.completion.drive();  // retires the requests that have completed by now
  const completion::lock nothing_retires(core.completion);
  if (const auto slot = user_of(core.requests, r)) {
    const request_id user = id_of(core.channel, core.requests[*slot], *slot);
    return wrong_buffer("written", cat("is used by ", user.name, " #", user.ticket,
                                       ", which has not completed; await it before you write to the buffer"));
  }
  core.memory.renew(b);
  core.memory.mark_written(b, r.address, r.address + r.bytes, core.channel.newest_ticket() + 1);
  return {};
}

}  // namespace troupe::detail
