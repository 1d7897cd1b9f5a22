// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of events, which uses the worker's clock.
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/events/requests.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::events {
namespace {

error never_recorded(const char* request, const char* which) {
  return error(reaction::caller_bug, "events",
               std::string(request) + ": " + which + " was never recorded; record it first");
}

error between_processes(const char* request) {
  return error(reaction::unsupported, "events",
               std::string(request) +
                   ": on the host engine an event is a time in the worker's memory, which other processes cannot wait "
                   "for; share a host_buffer (export_memory) and wait for a word in it, or use a GPU");
}

struct host_events {
  static result<std::unique_ptr<host_events>> make(const engine_context&) { return std::make_unique<host_events>(); }
  const char* version() const { return "monotonic clock"; }

  static result<void> stamp(std::byte* event, std::uint64_t number, bool inter_process, const char* request) {
    if (inter_process) return between_processes(request);
    event_memory& m = event_memory::at(event);
    m.at_ns = static_cast<std::uint64_t>(now_ns());
    m.enqueued.store(number, std::memory_order_release);
    m.recorded.store(number, std::memory_order_release);
    return {};
  }
  result<void> run(const record& r, call&) {
    return stamp(r.event.data(), r.number, r.inter_process, name_of<record>().data());
  }
  result<void> run(const record_all& r, call&) {
    return stamp(r.event.data(), r.number, r.inter_process, name_of<record_all>().data());
  }
  result<void> run(const hold_back& r, call&) { return recorded(r.event.data(), name_of<hold_back>().data(), "event"); }
  result<void> run(const reach& r, call&) { return recorded(r.event.data(), name_of<reach>().data(), "event"); }
  result<std::int64_t> run(const elapsed_time& r, call&) {
    TROUPE_TRY(recorded(r.from.data(), name_of<elapsed_time>().data(), "from"));
    TROUPE_TRY(recorded(r.to.data(), name_of<elapsed_time>().data(), "to"));
    return static_cast<std::int64_t>(event_memory::at(r.to.data()).at_ns - event_memory::at(r.from.data()).at_ns);
  }
  result<event_handle> run(const share&, call&) { return between_processes(name_of<share>().data()); }
  result<void> run(const open&, call&) { return between_processes(name_of<open>().data()); }
  result<void> run(const forget&, call&) { return {}; }

 private:
  static result<void> recorded(const std::byte* event, const char* request, const char* which) {
    if (event_memory::at(event).recorded.load(std::memory_order_acquire) == 0) return never_recorded(request, which);
    return {};
  }
};

}  // namespace
}  // namespace troupe::events

using namespace troupe::events;
using namespace troupe;
TROUPE_ENGINE(host_events, "events", "host",
              marked<fences, marked<follows, all_requests, record, hold_back, reach>, record_all>)
