// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Serves the memory requests on the host: memcpy.
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/memory/copying/stream_copy.hpp>
#include <troupe/memory/internal/served.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::memory {
namespace {

constexpr std::int64_t small_bytes = 4096;

template <class R>
inline constexpr bool is_plain_copy =
    std::is_same_v<R, copy> || std::is_same_v<R, upload> || std::is_same_v<R, download>;

struct host_memory {
  static result<std::unique_ptr<host_memory>> make(const engine_context&) { return std::make_unique<host_memory>(); }
  const char* version() const { return "host"; }

  template <class R>
  static void move_bytes(const R& r) {
    std::memcpy(r.target.data(), r.source.data(), static_cast<std::size_t>(r.bytes.value()));
  }
  template <class R>
    requires is_plain_copy<R>
  result<void> run(const R& r, call&) {
    move_bytes(r);
    return {};
  }

  // Groups small copies that wait at the same time.
  template <class R>
    requires is_plain_copy<R>
  static std::uint64_t group_of(const R& r) {
    return r.bytes <= small_bytes ? 1 : 0;
  }
  template <class R>
  result<void> run_group(const group<R>& all, call&) {
    for (std::size_t i = 0; i < all.size(); ++i) move_bytes(all[i]);
    return {};
  }

  result<void> run(const copy_2d& r, call&) {
    const auto width = static_cast<std::size_t>(r.width.value());
    const std::int64_t from = or_tight(r.source_pitch, r.width).value(), to = or_tight(r.target_pitch, r.width).value();
    for (std::int64_t i = 0; i < r.rows.value(); ++i)
      std::memcpy(r.target.data() + i * to, r.source.data() + i * from, width);
    return {};
  }

  result<void> run(const fill& r, call&) {
    const auto n = static_cast<std::size_t>(r.bytes.value()), step = static_cast<std::size_t>(r.pattern_bytes.value());
    std::byte* to = r.target.data();
    if (n == 0) return {};
    if (step == 1) {
      std::memset(to, static_cast<int>(r.pattern[0]), n);
      return {};
    }
    std::memcpy(to, r.pattern.data(), step);
    for (std::size_t have = step; have < n; have *= 2) std::memcpy(to + have, to, std::min(have, n - have));
    return {};
  }

  // Copies the chunks of an upload as they arrive. Fails if an earlier worker has counted chunks as emptied and then
  // died: the application has overwritten them, so they are lost. The application announces each chunk before it
  // overwrites an older one.
  result<void> run(const stream_in& r, call&) {
    auto& from = *reinterpret_cast<sent_header*>(static_cast<std::uintptr_t>(r.staging));
    auto& h = *reinterpret_cast<staging_header*>(r.progress.data());
    const staging_plan plan = plan_of(r);
    for (std::uint64_t i = 0; i < plan.count(); ++i) {
      h.await([&] { return from.filled.reaches(i + 1); });
      stream_copy(r.target.data() + i * plan.chunk_bytes, plan.chunk(&from, i), plan.size(i));
      std::atomic_thread_fence(std::memory_order_acquire);
      if (from.begun.load(std::memory_order_relaxed) > i + plan.chunks)
        return error(reaction::retry_later, "memory",
                     "upload: a part of the data was lost with a worker that has failed since; upload it again");
      h.step(h.emptied, i + 1);
    }
    return {};
  }

  // Copies the source to the chunks after the header, no further ahead than allowed. Calls `told(n)` after n chunks.
  template <class R, class Told>
  static result<void> fill_chunks(const R& r, staging_header& h, Told&& told) {
    const staging_plan plan = plan_of(r);
    for (std::uint64_t i = 0; i < plan.count(); ++i) {
      h.await([&] { return may_fill(h, plan, i) || h.is_broken(); });
      if (h.is_damaged()) return counts_overwritten();
      if (h.is_broken()) return {};
      std::memcpy(plan.chunk(&h, i), r.source.data() + i * plan.chunk_bytes, plan.size(i));
      h.step(h.filled, i + 1);
      told(i + 1);
    }
    return {};
  }
  // The application's thread empties a chunk faster than the next one is filled, so it is woken only for the first
  // chunks, and whenever half of all places have been filled since the last wake; the other half is free meanwhile.
  result<void> run(const stream_out& r, call& c) {
    auto& h = *reinterpret_cast<staging_header*>(static_cast<std::uintptr_t>(r.staging));
    const std::uint64_t half = std::max<std::uint64_t>(plan_of(r).chunks / 2, 1);
    return fill_chunks(r, h, [&](std::uint64_t filled) {
      if (std::has_single_bit(filled) || filled % half == 0) c.news(c.worker);
    });
  }

  // The two halves of a copy between devices wait for each other, so they must not occupy all lanes of a worker.
  template <class R>
    requires is_half_of_peer_copy<R>
  static bool ready(const R&) noexcept {
    return false;
  }
  // Runs the source's half. If the other half fails, this one has nothing left to do and succeeds.
  result<void> run(const peer_show& r, call&) {
    staging_header& h = meeting_of(r);
    h.step(h.filled, 1);
    h.await([&] { return h.emptied.reaches(1) || h.is_broken(); });
    return {};
  }
  // Does not copy once the copy was abandoned: the source may have been lost or written again.
  result<void> run(const peer_take& r, call&) {
    staging_header& h = meeting_of(r);
    h.await([&] { return h.filled.reaches(1) || h.is_broken(); });
    if (h.is_broken()) return peer_failed();
    std::memcpy(r.target.data(), reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(r.from)),
                static_cast<std::size_t>(r.bytes.value()));
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (h.is_broken()) return peer_failed();
    h.step(h.emptied, 1);
    return {};
  }
  result<void> run(const peer_send& r, call&) {
    staging_header& h = meeting_of(r);
    return fill_chunks(r, h, [](std::uint64_t) {});
  }
  result<void> run(const peer_receive& r, call&) {
    staging_header& h = meeting_of(r);
    const staging_plan plan = plan_of(r);
    for (std::uint64_t i = 0; i < plan.count(); ++i) {
      h.await([&] { return h.filled.reaches(i + 1) || h.is_broken(); });
      if (h.is_broken()) return peer_failed();
      stream_copy(r.target.data() + i * plan.chunk_bytes, plan.chunk(&h, i), plan.size(i));
      h.step(h.emptied, i + 1);
    }
    return {};
  }

  // Managed memory is always in the host's memory here. Prefetching makes its pages present before they are used.
  result<void> run(const prefetch& r, call&) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(r.range.data()) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(r.range.data()) + static_cast<std::size_t>(r.bytes.value()));
    void* const at = reinterpret_cast<void*>(begin);
    if (::madvise(at, end - begin, MADV_POPULATE_WRITE) == 0) return {};
    // Linux before 5.14 has only a weaker hint, MADV_WILLNEED.
    if (errno == EINVAL && ::madvise(at, end - begin, MADV_WILLNEED) == 0) return {};
    return error_of_errno("memory", cat("madvise of ", r.bytes.value(), " bytes"));
  }
  result<void> run(const advise&, call&) {
    return error(reaction::unsupported, "memory",
                 "advise: the host engine has one memory and never moves it, so advice has no effect; omit it on "
                 "this engine (statistics().engine), or use a device of the cuda engine");
  }
  result<managed_range> run(const look_at_managed&, call&) {
    return error(reaction::unsupported, "memory",
                 "look_at_managed: the host engine keeps no advice about memory; query on a device of the cuda engine");
  }

  result<void> run(const seal& r, call&) { return protect(r.target.data(), r.bytes, PROT_READ); }
  result<void> run(const unseal& r, call&) {
    return or_replaced(protect(r.target.data(), r.bytes, PROT_READ | PROT_WRITE));
  }
  static result<void> protect(const std::byte* at, extent bytes, int how) {
    if (::mprotect(const_cast<std::byte*>(at), static_cast<std::size_t>(bytes.value()), how) == 0) return {};
    return error_of_errno("memory", cat("mprotect of ", bytes.value(), " bytes"));
  }

  result<void> run(const lend&, call&) { return {}; }
  result<void> run(const show&, call&) { return {}; }
  result<void> run(const take_back&, call&) { return {}; }
  result<void> run(const fence&, call&) { return {}; }
  result<std::uint64_t> run(const ping& r, call&) { return r.value; }
};

}  // namespace
}  // namespace troupe::memory

using namespace troupe::memory;
TROUPE_ENGINE(host_memory, "memory", "host", troupe::with_slow<served, prefetch>)
