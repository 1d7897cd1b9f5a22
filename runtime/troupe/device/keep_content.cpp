// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/device_access.hpp>
#include <troupe/device/keep_content.hpp>

namespace troupe::detail {

result<void> keep_content(const device& gpu, const memory_range& r) {
  device_core& core = *device_access::core(gpu);
  if (!r.owner)
    return error(reaction::caller_bug, "memory",
                 "keep_content: the buffer is empty (never allocated, or moved from); expected one of " + gpu.name());
  if (r.owner->owner != &core.memory)
    return error(reaction::caller_bug, "memory",
                 "keep_content: the buffer belongs to another device than " + gpu.name());
  core.completion.drive();  // what has failed by now is known
  auto kept = core.memory.keep(*r.owner.get(), r.address, r.address + r.bytes);
  if (kept) return {};
  error::details d = kept.error().all();
  d.text = "keep_content: the buffer is not as it was before: " + d.text;
  return error(std::move(d));
}

}  // namespace troupe::detail
