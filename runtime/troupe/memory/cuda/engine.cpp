// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Serves the memory requests on a GPU: copies and fills by the driver.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <optional>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/access.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/memory/internal/served.hpp>
#include <troupe/worker/engine.hpp>

#include "chunks_under_way.hpp"
#include "rows.hpp"
#include "uploads.hpp"

namespace troupe::memory {
namespace {

using cuda::done;

CUdeviceptr pointer(const std::byte* p) noexcept { return reinterpret_cast<CUdeviceptr>(p); }
CUstream stream_of(const call& c) noexcept { return static_cast<CUstream>(c.stream); }
std::size_t size(extent e) noexcept { return static_cast<std::size_t>(e.value()); }

#if CUDA_VERSION >= 13000
constexpr auto prefetch_async = &::cuMemPrefetchAsync;
constexpr auto advise_range = &::cuMemAdvise;
#else
constexpr auto prefetch_async = &::cuMemPrefetchAsync_v2;
constexpr auto advise_range = &::cuMemAdvise_v2;
#endif

CUmem_advise advice_of(managed_advice what) noexcept {
  switch (what) {
    case managed_advice::read_mostly:
      return CU_MEM_ADVISE_SET_READ_MOSTLY;
    case managed_advice::no_read_mostly:
      return CU_MEM_ADVISE_UNSET_READ_MOSTLY;
    case managed_advice::preferred_location:
      return CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    case managed_advice::no_preferred_location:
      return CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    case managed_advice::accessed_by:
      return CU_MEM_ADVISE_SET_ACCESSED_BY;
    case managed_advice::no_accessed_by:
      break;
  }
  return CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

constexpr std::uint64_t most_under_way = staging_sizes::limit_of_chunks;

template <class R>
inline constexpr bool is_plain_copy =
    std::is_same_v<R, copy> || std::is_same_v<R, upload> || std::is_same_v<R, download>;

struct cuda_memory {
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_memory>> make(const engine_context& context) {
    auto out = std::make_unique<cuda_memory>();
    CUdevice device = 0;
    TROUPE_TRY(done(::cuDeviceGet(&device, context.device), "cuDeviceGet"));
    out->small_.emplace(TROUPE_TRY(small_uploads::make(device)));
    out->arrivals_ = TROUPE_TRY(arrivals::make(context.lanes));
    out->version_ = cuda::driver_text();
    // The context is null in unit tests of the plug-in. A failure only makes the first requests slower.
    if (context.native_context != nullptr) (void)out->warm_up();
    return out;
  }
  const char* version() const { return version_.c_str(); }

  template <class R>
    requires is_plain_copy<R>
  result<void> run(const R& r, call& c) {
    if (r.bytes == 0) return {};
    return done(::cuMemcpyAsync(pointer(r.target.data()), pointer(r.source.data()), size(r.bytes), stream_of(c)),
                "cuMemcpyAsync");
  }

  // Small uploads that wait at the same time form a group, which shares a launch if a kernel can copy it.
  static std::uint64_t group_of(const upload& r) {
    return r.bytes != 0 && r.bytes <= small_uploads::most_bytes ? 1 : 0;
  }
  // Runs a group of uploads together. If this fails, each runs alone, and may write the same bytes again.
  result<void> run_group(const group<upload>& all, call& c) {
    std::array<small_uploads::one, small_uploads::most> list;
    for (std::size_t first = 0; first < all.size(); first += list.size()) {
      const std::size_t count = std::min(all.size() - first, list.size());
      for (std::size_t i = 0; i < count; ++i) {
        const upload r = all[first + i];
        list[i] = {r.target.data(), r.source.data(), size(r.bytes)};
      }
      TROUPE_TRY(small_->run({list.data(), count}, stream_of(c)));
    }
    return {};
  }

  result<void> run(const copy_2d& r, call& c) {
    if (r.width == 0 || r.rows == 0) return {};
    return copy_rows(r, stream_of(c));
  }

  result<void> run(const fill& r, call& c) {
    if (r.bytes == 0) return {};
    const CUdeviceptr to = pointer(r.target.data());
    const std::size_t n = size(r.bytes), step = size(r.pattern_bytes);
    const CUstream s = stream_of(c);
    const auto part = [&r](auto& value, std::size_t i) {
      std::memcpy(&value, r.pattern.data() + i * sizeof value, sizeof value);
      return value;
    };
    std::uint8_t byte;
    std::uint16_t two;
    std::uint32_t four;
    if (step == 1) return done(::cuMemsetD8Async(to, part(byte, 0), n, s), "cuMemsetD8Async");
    if (step == 2) return done(::cuMemsetD16Async(to, part(two, 0), n / 2, s), "cuMemsetD16Async");
    if (step == 4) return done(::cuMemsetD32Async(to, part(four, 0), n / 4, s), "cuMemsetD32Async");
    // The driver has no fill for longer patterns: fills the first rows column by column, and copies them to the rest.
    constexpr std::size_t most_rows = 4096;
    const std::size_t rows = std::min(n / step, most_rows);
    for (std::size_t i = 0; i < step;) {
      const CUdeviceptr at = to + i;
      CUresult told;
      if (step % 4 == 0) {
        told = ::cuMemsetD2D32Async(at, step, part(four, i / 4), 1, rows, s);
        i += 4;
      } else if (step % 2 == 0) {
        told = ::cuMemsetD2D16Async(at, step, part(two, i / 2), 1, rows, s);
        i += 2;
      } else {
        told = ::cuMemsetD2D8Async(at, step, part(byte, i), 1, rows, s);
        i += 1;
      }
      if (told != CUDA_SUCCESS) return cuda::failed("cuMemsetD2D", told);
    }
    for (std::size_t have = rows * step; have < n; have *= 2)
      TROUPE_TRY(done(::cuMemcpyAsync(to + have, to, std::min(have, n - have), s), "cuMemcpyAsync"));
    return {};
  }

  result<void> run(const stream_in& r, call& c) {
    auto& from = *reinterpret_cast<sent_header*>(static_cast<std::uintptr_t>(r.staging));
    auto& h = *reinterpret_cast<staging_header*>(r.progress.data());
    const staging_plan plan = plan_of(r);
    const auto read = TROUPE_TRY(in_parts(
        plan, h, c, [&](std::uint64_t i) { return from.filled.reaches(i + 1); },
        [&](std::uint64_t i) {
          return std::pair<void*, const void*>(r.target.data() + i * plan.chunk_bytes, plan.chunk(&from, i));
        },
        [&](std::uint64_t over) -> result<void> {
          std::atomic_thread_fence(std::memory_order_acquire);
          if (from.begun.load(std::memory_order_relaxed) > over - 1 + plan.chunks)
            return error(reaction::retry_later, "memory",
                         "upload: a part of the data was lost with a worker that has failed since; upload it again");
          h.step(h.emptied, over);
          return {};
        }));
    return read == plan.count() ? result<void>() : counts_overwritten();
  }

  result<void> run(const stream_out& r, call& c) {
    auto& h = *reinterpret_cast<staging_header*>(static_cast<std::uintptr_t>(r.staging));
    return fill_chunks(r, h, c, [&c] { c.news(c.worker); });
  }

  // A streamed copy waits for the application, and the two halves of a copy between devices wait for each other. They
  // must not occupy all lanes of a worker.
  template <class R>
    requires is_half_of_peer_copy<R> || std::same_as<R, stream_in> || std::same_as<R, stream_out>
  static bool ready(const R&) noexcept {
    return false;
  }
  // Runs the source's half. If the other half fails, this one has nothing left to do and succeeds.
  result<void> run(const peer_show& r, call& c) {
    staging_header& h = meeting_of(r);
    chunks_under_way going(arrivals_[c.lane], stream_of(c));
    TROUPE_TRY(going.mark());
    TROUPE_TRY(going.await_all());
    h.step(h.filled, 1);
    h.await([&h] { return h.emptied.reaches(1) || h.is_broken(); });
    return {};
  }
  // Does not copy once the copy was abandoned: the source may have been lost or written again.
  result<void> run(const peer_take& r, call& c) {
    staging_header& h = meeting_of(r);
    h.await([&h] { return h.filled.reaches(1) || h.is_broken(); });
    if (h.is_broken()) return peer_failed();
    chunks_under_way going(arrivals_[c.lane], stream_of(c));
    const auto* const from = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(r.from));
    TROUPE_TRY(going.send(r.target.data(), from, size(r.bytes)));
    TROUPE_TRY(going.await_all());
    if (h.is_broken()) return peer_failed();
    h.step(h.emptied, 1);
    return {};
  }
  result<void> run(const peer_send& r, call& c) {
    staging_header& h = meeting_of(r);
    return fill_chunks(r, h, c, [] {});
  }
  result<void> run(const peer_receive& r, call& c) {
    staging_header& h = meeting_of(r);
    const staging_plan plan = plan_of(r);
    const auto received = TROUPE_TRY(in_parts(
        plan, h, c, [&](std::uint64_t i) { return h.filled.reaches(i + 1); },
        [&](std::uint64_t i) {
          return std::pair<void*, const void*>(r.target.data() + i * plan.chunk_bytes, plan.chunk(&h, i));
        },
        [&](std::uint64_t over) -> result<void> {
          h.step(h.emptied, over);
          return {};
        }));
    return received == plan.count() ? result<void>() : peer_failed();
  }

  result<void> run(const prefetch& r, call& c) {
    const auto to = TROUPE_TRY(location_of(r.to));
    return done(prefetch_async(pointer(r.range.data()), size(r.bytes), to, 0, stream_of(c)), "cuMemPrefetchAsync");
  }
  result<void> run(const advise& r, call&) {
    const auto where = TROUPE_TRY(location_of(r.where));
    return done(advise_range(pointer(r.range.data()), size(r.bytes), advice_of(r.what), where), "cuMemAdvise");
  }
  result<managed_range> run(const look_at_managed& r, call&) {
    CUdevice device = 0;
    TROUPE_TRY(done(::cuCtxGetDevice(&device), "cuCtxGetDevice"));
    constexpr std::size_t most_devices = 64;
    std::int32_t read_mostly = 0, preferred = CU_DEVICE_INVALID, prefetched = CU_DEVICE_INVALID;
    std::array<std::int32_t, most_devices> accessed_by;
    accessed_by.fill(CU_DEVICE_INVALID);
    void* data[] = {&read_mostly, &preferred, &prefetched, accessed_by.data()};
    std::size_t sizes[] = {sizeof read_mostly, sizeof preferred, sizeof prefetched, sizeof accessed_by};
    CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    TROUPE_TRY(done(::cuMemRangeGetAttributes(data, sizes, which, 4, pointer(r.range.data()), size(r.bytes)),
                    "cuMemRangeGetAttributes"));
    const auto place = [device](std::int32_t id) {
      return id == CU_DEVICE_INVALID ? managed_range::place::none
             : id == CU_DEVICE_CPU   ? managed_range::place::host
             : id == device          ? managed_range::place::device
                                     : managed_range::place::elsewhere;
    };
    const auto accesses = [&accessed_by](std::int32_t id) {
      return std::find(accessed_by.begin(), accessed_by.end(), id) != accessed_by.end();
    };
    return managed_range{.read_mostly = read_mostly != 0,
                         .preferred = place(preferred),
                         .accessed_by_device = accesses(device),
                         .accessed_by_host = accesses(CU_DEVICE_CPU),
                         .prefetched = place(prefetched)};
  }

  result<void> run(const seal& r, call&) {
    return in_device([&](CUdevice d) {
      return cuda::set_access(d, pointer(r.target.data()), size(r.bytes), CU_MEM_ACCESS_FLAGS_PROT_READ);
    });
  }
  result<void> run(const unseal& r, call&) {
    return or_replaced(
        in_device([&](CUdevice d) { return cuda::allow_writing(d, pointer(r.target.data()), size(r.bytes)); }));
  }

  result<void> run(const lend&, call&) { return {}; }
  result<void> run(const show&, call&) { return {}; }
  result<void> run(const take_back&, call&) { return {}; }
  result<void> run(const fence&, call&) { return {}; }
  result<std::uint64_t> run(const ping& r, call&) { return r.value; }

 private:
  // Runs the driver's fills and our kernel once. The driver loads their code when a context first uses them, and takes
  // tens of milliseconds while it is busy with the end of another process, as it is when this worker takes over.
  result<void> warm_up() {
    constexpr std::size_t bytes = 1024;
    CUdeviceptr made = 0;
    TROUPE_TRY(done(::cuMemAlloc(&made, bytes), "cuMemAlloc"));
    const cuda::device_memory scratch(made);
    CUstream s = nullptr;
    TROUPE_TRY(done(::cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
    const cuda::stream own(s);
    TROUPE_TRY(done(::cuMemsetD8Async(made, 0, bytes, s), "cuMemsetD8Async"));
    TROUPE_TRY(done(::cuMemsetD16Async(made, 0, bytes / 2, s), "cuMemsetD16Async"));
    TROUPE_TRY(done(::cuMemsetD32Async(made, 0, bytes / 4, s), "cuMemsetD32Async"));
    TROUPE_TRY(done(::cuMemsetD2D8Async(made, 16, 0, 1, 4, s), "cuMemsetD2D8Async"));
    TROUPE_TRY(done(::cuMemsetD2D16Async(made, 16, 0, 1, 4, s), "cuMemsetD2D16Async"));
    TROUPE_TRY(done(::cuMemsetD2D32Async(made, 16, 0, 1, 4, s), "cuMemsetD2D32Async"));
    TROUPE_TRY(done(::cuMemcpyAsync(made, made + bytes / 2, bytes / 2, s), "cuMemcpyAsync"));
    auto* const at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(made));
    const std::array<small_uploads::one, 4> small{
        {{at, at + 512, 16}, {at + 16, at + 512, 16}, {at + 32, at + 512, 16}, {at + 48, at + 512, 16}}};
    TROUPE_TRY(small_->run(small, s));
    return done(::cuStreamSynchronize(s), "cuStreamSynchronize");
  }
  static result<CUmemLocation> location_of(managed_place where) {
    if (where == managed_place::host) return CUmemLocation{.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
    CUdevice device = 0;
    TROUPE_TRY(done(::cuCtxGetDevice(&device), "cuCtxGetDevice"));
    return CUmemLocation{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  }
  // Copies the source to the chunks after the header. Calls `told()` after each chunk.
  template <class R, class Told>
  result<void> fill_chunks(const R& r, staging_header& h, call& c, Told&& told) {
    const staging_plan plan = plan_of(r);
    TROUPE_TRY(in_parts(
        plan, h, c, [&](std::uint64_t i) { return may_fill(h, plan, i); },
        [&](std::uint64_t i) {
          return std::pair<void*, const void*>(plan.chunk(&h, i), r.source.data() + i * plan.chunk_bytes);
        },
        [&](std::uint64_t over) -> result<void> {
          h.step(h.filled, over);
          told();
          return {};
        }));
    return h.is_damaged() ? counts_overwritten() : result<void>();
  }
  // Enqueues chunks, on the lane's thread, as far as the application allows, and reports those that have arrived.
  // `may(i)` returns true if chunk i can be copied, `between(i)` returns its target and source, and `arrived(n)` is
  // called when n chunks have arrived. Enqueues nothing after the header is broken. Returns the number of chunks that
  // have arrived and were reported.
  template <class May, class Between, class Arrived>
  result<std::uint64_t> in_parts(const staging_plan& plan, staging_header& h, call& c, May&& may, Between&& between,
                                 Arrived&& arrived) {
    // If a broken kernel overwrites `sleepers`, nobody wakes this thread: the limit keeps it from sleeping forever.
    constexpr std::int64_t longest_sleep_ns = 1'000'000'000;
    chunks_under_way going(arrivals_[c.lane], stream_of(c));
    while (going.over() < plan.count()) {
      const std::uint64_t i = going.sent();
      const auto may_send = [&] { return i < plan.count() && going.count() < most_under_way && may(i); };
      if (h.is_broken()) {
        const std::uint64_t counted = going.over();
        TROUPE_TRY(going.await_all());
        return counted;
      }
      if (may_send()) {
        const auto [to, from] = between(i);
        TROUPE_TRY(going.send(to, from, plan.size(i)));
        continue;
      }
      const auto one = TROUPE_TRY(going.take_arrived());
      if (one) {
        TROUPE_TRY(arrived(going.over()));
      } else if (going.count() == 0) {
        h.sleep([&] { return may_send() || h.is_broken(); }, now_ns() + longest_sleep_ns);
      } else {
        spin_hint();
      }
    }
    return plan.count();
  }
  template <class F>
  static result<void> in_device(F&& change) {
    CUdevice device = 0;
    TROUPE_TRY(done(::cuCtxGetDevice(&device), "cuCtxGetDevice"));
    return change(device);
  }

  std::string version_;
  std::optional<small_uploads> small_;
  arrivals arrivals_;
};

}  // namespace
}  // namespace troupe::memory

using namespace troupe::memory;
TROUPE_ENGINE(cuda_memory, "memory", "cuda", troupe::with_slow<served, seal, unseal>)
