// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of events: events of the driver, recorded in the streams of the lanes.
#include <cstring>
#include <map>
#include <mutex>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/events/requests.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::events {
namespace {

using cuda::done;

static_assert(sizeof(CUipcEventHandle) == sizeof(event_handle));

std::string begin_of(std::string_view request) { return std::string(request) + ": "; }

class cuda_events {
 public:
  static result<std::unique_ptr<cuda_events>> make(const engine_context&) {
    auto out = std::make_unique<cuda_events>();
    CUstream s = nullptr;
    TROUPE_TRY(done(::cuStreamCreate(&s, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
    out->own_.reset(s);
    return out;
  }
  const char* version() const { return "CUDA events"; }

  result<void> run(const record& r, call& c) {
    return record_on(static_cast<CUstream>(c.stream), r.event.data(), r.number, r.inter_process, name_of<record>());
  }
  // Runs on a helper thread, after everything for which it waits, so the GPU reaches at once what is enqueued now.
  result<void> run(const record_all& r, call&) {
    const std::string_view request = name_of<record_all>();
    TROUPE_TRY(record_on(own_.get(), r.event.data(), r.number, r.inter_process, request));
    return done(::cuStreamSynchronize(own_.get()), request, "cuStreamSynchronize");
  }
  result<void> run(const hold_back& r, call& c) {
    return wait_on(static_cast<CUstream>(c.stream), r.event.data(), name_of<hold_back>());
  }
  result<void> run(const reach& r, call& c) {
    return wait_on(static_cast<CUstream>(c.stream), r.event.data(), name_of<reach>());
  }
  // Runs on a helper thread, after both events were recorded.
  result<std::int64_t> run(const elapsed_time& r, call&) {
    const std::string_view request = name_of<elapsed_time>();
    const auto from = TROUPE_TRY(find(r.from.data(), request, "from"));
    const auto to = TROUPE_TRY(find(r.to.data(), request, "to"));
    if (from.inter_process || to.inter_process)
      return error(
          reaction::caller_bug, "events",
          begin_of(request) + "events with inter_process have no time; record a second event without inter_process");
    float ms = 0;
    TROUPE_TRY(done(::cuEventElapsedTime(&ms, from.event, to.event), request, "cuEventElapsedTime"));
    return static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
  }
  result<event_handle> run(const share& r, call&) {
    const std::string_view request = name_of<share>();
    if (!r.inter_process)
      return error(
          reaction::caller_bug, "events",
          begin_of(request) + "the event was made without inter_process; make it with inter_process to share it");
    const auto e = TROUPE_TRY(find_or_make(r.event.data(), r.inter_process, request));
    CUipcEventHandle handle;
    TROUPE_TRY(done(::cuIpcGetEventHandle(&handle, e->event.get()), request, "cuIpcGetEventHandle"));
    event_handle out;
    std::memcpy(out.data(), &handle, sizeof handle);
    return out;
  }
  result<void> run(const open& r, call&) {
    CUipcEventHandle handle;
    std::memcpy(&handle, r.handle.data(), sizeof handle);
    CUevent e = nullptr;
    TROUPE_TRY(done(::cuIpcOpenEventHandle(&e, handle), name_of<open>(), "cuIpcOpenEventHandle"));
    const std::scoped_lock guard(lock_);
    put(r.event.data(),
        {.event = cuda::event(e), .inter_process = true, .recorded = true});  // by another process, perhaps
    return {};
  }
  result<void> run(const forget& r, call&) {
    const std::scoped_lock guard(lock_);
    all_.erase(r.event.data());
    return {};
  }

 private:
  struct entry {
    cuda::event event;
    bool inter_process;
    bool recorded;  // only recordings write it; the device orders requests that read it before or after them
  };
  struct found {
    CUevent event;
    bool inter_process;
  };
  // Returns the event with this memory. Precondition: the caller holds lock_. An event is identified by its memory,
  // which has the same address in every worker; an event that was made in an earlier worker is stale. If an event could
  // not be forgotten, its entry is still here when another event gets its memory.
  entry* known(const std::byte* memory) {
    const auto at = all_.find(memory);
    return at != all_.end() && event_memory::at(memory).made.load() != 0 ? &at->second : nullptr;
  }
  entry* put(const std::byte* memory, entry e) {
    event_memory::at(memory).made.store(1);
    return &all_.insert_or_assign(memory, std::move(e)).first->second;
  }
  result<found> find(const std::byte* memory, std::string_view request, const char* which) {
    const std::scoped_lock guard(lock_);
    if (const entry* const e = known(memory); e != nullptr && e->recorded)
      return found{e->event.get(), e->inter_process};
    return error(reaction::caller_bug, "events", begin_of(request) + which + " was never recorded; record it first");
  }
  // The entry keeps its address until the event is forgotten.
  result<entry*> find_or_make(const std::byte* memory, bool inter_process, std::string_view request) {
    const std::scoped_lock guard(lock_);
    if (entry* const e = known(memory); e != nullptr && e->inter_process == inter_process) return e;
    CUevent e = nullptr;
    const unsigned flags = inter_process ? CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT;
    TROUPE_TRY(done(::cuEventCreate(&e, flags), request, "cuEventCreate"));
    return put(memory, {.event = cuda::event(e), .inter_process = inter_process, .recorded = false});
  }
  result<void> record_on(CUstream s, std::byte* memory, std::uint64_t number, bool inter_process,
                         std::string_view request) {
    const auto e = TROUPE_TRY(find_or_make(memory, inter_process, request));
    TROUPE_TRY(done(::cuEventRecord(e->event.get(), s), request, "cuEventRecord"));
    e->recorded = true;
    event_memory& m = event_memory::at(memory);
    m.enqueued.store(number, std::memory_order_release);
    return done(
        ::cuStreamWriteValue64(s, reinterpret_cast<CUdeviceptr>(&m.recorded), number, CU_STREAM_WRITE_VALUE_DEFAULT),
        request, "cuStreamWriteValue64");
  }
  result<void> wait_on(CUstream s, const std::byte* memory, std::string_view request) {
    const auto e = TROUPE_TRY(find(memory, request, "event"));
    return done(::cuStreamWaitEvent(s, e.event, CU_EVENT_WAIT_DEFAULT), request, "cuStreamWaitEvent");
  }

  std::mutex lock_;
  std::map<const std::byte*, entry> all_;
  cuda::stream own_;
};

}  // namespace
}  // namespace troupe::events

using namespace troupe::events;
using namespace troupe;
TROUPE_ENGINE(
    cuda_events, "events", "cuda",
    with_slow<marked<fences, marked<follows, all_requests, record, hold_back, reach>, record_all>, elapsed_time>)
