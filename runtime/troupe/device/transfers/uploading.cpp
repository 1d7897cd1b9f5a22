// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <troupe/base/clock.hpp>
#include <troupe/channel/vain_wakes.hpp>
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/transfers/allocation.hpp>
#include <troupe/memory/copying/chunk_pieces.hpp>
#include <troupe/memory/copying/copy_threads.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

namespace {

// The application's side of an upload in chunks: the calling thread and its helpers fill chunks, and the worker empties
// them.
class chunk_filler final : public shared_copy {
 public:
  chunk_filler(const staging_plan& plan, std::uint64_t piece_bytes, const std::byte* from, sent_header& sent,
               staging_header& progress) noexcept
      : plan_(plan), from_(from), sent_(sent), progress_(progress), pieces_(plan, piece_bytes) {}

  bool copy_piece() noexcept override {
    std::optional<chunk_piece> piece;
    {
      const std::scoped_lock guard(lock_);
      piece = pieces_.take(room());
      if (piece) sent_.begun.store(pieces_.begun(), std::memory_order_relaxed);
    }
    if (!piece) return false;
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(plan_.chunk(&sent_, piece->chunk) + piece->offset,
                from_ + piece->chunk * plan_.chunk_bytes + piece->offset, piece->bytes);
    const std::scoped_lock guard(lock_);
    const std::uint64_t before = pieces_.complete();
    pieces_.finish(*piece);
    if (pieces_.complete() != before) progress_.step(sent_.filled, pieces_.complete());
    return true;
  }
  std::size_t waiting_pieces() const noexcept override {
    const std::uint64_t may = pieces_.pieces_of(room()), next = pieces_.next();
    return may > next ? may - next : 0;
  }
  bool all_taken() const noexcept { return pieces_.next() == pieces_.total(); }

 private:
  // If a worker counts too far, the application overwrites chunks that the worker has not read. The worker that reads
  // them detects it by `begun`.
  std::uint64_t room() const noexcept {
    const std::uint64_t emptied = progress_.emptied.load();
    return emptied != checked_count::damaged ? emptied + plan_.chunks : plan_.count();
  }

  const staging_plan plan_;
  const std::byte* const from_;
  sent_header& sent_;
  staging_header& progress_;
  std::mutex lock_;  // not held while a piece is copied
  chunk_pieces pieces_;
};

// Returns when the worker has emptied all chunks, or when the request is answered: it failed or was cancelled, and no
// worker empties chunks any more.
void fill_chunks(device_core& core, chunk_filler& all, staging_header& progress, asked<void>& answer) {
  const copy_threads::sharing with_helpers(core.copy_threads, all);
  adaptive_wait wait(core.spin_for_room);
  vain_wakes vain;
  const auto ready = [&] { return all.waiting_pieces() != 0 || all.all_taken(); };
  while (!all.all_taken() && !answer.done()) {
    core.copy_threads.call_help(all.waiting_pieces());
    if (all.copy_piece() || (!vain.are_many() && wait.spin(ready)) || answer.done()) continue;
    core.sleep_in_call(answer, ready,
                       [&] { wait.sleep_after_spin([&] { progress.sleep(ready, now_ns() + 5'000'000); }); });
    core.completion.drive();
    vain.count(!ready() && !answer.done());
  }
}

}  // namespace

pending<void> upload(const device& gpu, const memory_range& to, std::span<const std::byte> from,
                     const call_options& o) {
  const std::shared_ptr<device_core>& core = device_access::core(gpu);
  const auto& scope = device_access::scope(gpu);
  auto answer = new_answer(core);
  // If no staging block can be allocated, the upload fails: its target becomes stale with that cause.
  const bool small = from.size() <= core->staging.one_request;
  const staging_plan plan = staging_plan::for_bytes(std::max<std::size_t>(from.size(), 1), core->staging);
  const memory_range stage = from.empty() ? memory_range{}
                             : small      ? allocate_for_upload(*core, from.size())
                                          : allocate(*core, memory_kind::sent, plan.block_bytes(), 1, {});
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

  auto& counts = *reinterpret_cast<staging_header*>(progress.owner->host);
  chunk_filler all(plan, core->staging.piece, from.data(), *reinterpret_cast<sent_header*>(stage.owner->host), counts);
  fill_chunks(*core, all, counts, *answer);
  return pending<void>(std::move(answer));
}

}  // namespace troupe::detail
