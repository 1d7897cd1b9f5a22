// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <troupe/base/clock.hpp>
#include <troupe/device/allocation.hpp>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/device_access.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

pending<void> upload(const device& gpu, const memory_range& to, std::span<const std::byte> from,
                     const call_options& o) {
  const std::shared_ptr<device_core>& core = device_access::core(gpu);
  const auto& scope = device_access::scope(gpu);
  auto answer = new_answer(core);
  // A staging block that cannot be had is the upload's failure: its target goes stale with that cause.
  const bool small = from.size() <= core->staging.one_request;
  const staging_plan plan = staging_plan::for_bytes(std::max<std::size_t>(from.size(), 1), core->staging);
  const memory_range stage = from.empty()
                                 ? memory_range{}
                                 : allocate(*core, memory_kind::sent, small ? from.size() : plan.block_bytes(), 1, {});
  if (small) {
    if (stage.address != 0) std::memcpy(stage.owner->host, from.data(), from.size());
    const memory::upload r{
        .source = in<std::byte>(from.empty() ? to : stage), .target = out<std::byte>(to), .bytes = from.size()};
    checker c(r, &core->memory, core->memory.generation());
    r.check(c);
    core->mailbox.submit(info_of<memory::upload>, &r, c, answer.get(), &answer->link, o, scope);
    return pending<void>(std::move(answer));
  }
  const memory_range progress = allocate(*core, memory_kind::host, sizeof(staging_header), 1, {});
  const memory::stream_in r{.target = out<std::byte>(to),
                            .bytes = from.size(),
                            .staging = stage.address,
                            .progress = out<std::byte>(progress),
                            .chunk_bytes = plan.chunk_bytes,
                            .chunks = plan.chunks};
  checker c(r, &core->memory, core->memory.generation());
  r.check(c);
  if (stage.address == 0) {
    c.fail(*why_stale(stage));
  } else if (progress.address != 0) {
    std::construct_at(reinterpret_cast<sent_header*>(stage.owner->host))->digest = core->quarantine.digest_of(from);
    std::construct_at(reinterpret_cast<staging_header*>(progress.owner->host));
  }
  if (!core->mailbox.submit(info_of<memory::stream_in>, &r, c, answer.get(), &answer->link, o, scope, stage.owner))
    return pending<void>(std::move(answer));

  sent_header& sent = *reinterpret_cast<sent_header*>(stage.owner->host);
  staging_header& h = *reinterpret_cast<staging_header*>(progress.owner->host);
  adaptive_wait wait(core->spin_for_room);
  for (std::uint64_t i = 0; i < plan.count();) {
    // A worker that counts too far gets chunks overwritten that it has not read. `begun` tells the worker that reads
    // them.
    std::uint64_t end = i;  // of the chunks that there is room for
    const auto room = [&] {
      end = std::min(h.emptied.load(std::memory_order_seq_cst) + plan.chunks, plan.count());
      return end > i;
    };
    while (!wait.spin(room) && !answer->done()) {
      core->sleep_in_call(*answer, room, [&] { wait.sleep_after_spin([&] { h.sleep(room, now_ns() + 5'000'000); }); });
      core->completion.drive();
    }
    if (answer->done()) break;  // it failed or was cancelled: nobody empties chunks any more
    const std::uint64_t first = i;
    i += std::min<std::uint64_t>({end - i, core->copy_threads.most_parts(), plan.chunks});
    sent.begun.store(i, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    core->copy_threads.run(i - first, [&](std::size_t part) {
      const std::uint64_t n = first + part;
      std::memcpy(plan.chunk(&sent, n), from.data() + n * plan.chunk_bytes, plan.size(n));
    });
    h.step(sent.filled, i);
  }
  return pending<void>(std::move(answer));
}

}  // namespace troupe::detail
