// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <algorithm>
#include <apps/demo/breaker.hpp>
#include <apps/demo/record.hpp>
#include <array>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/faults/faults.hpp>

namespace demo {

using namespace troupe;

namespace {

struct way {
  faults::kind what;
  const char* text;
};
constexpr std::array ways{way{faults::kind::kill_worker, "kill -9"},
                          way{faults::kind::segmentation_fault, "wild pointer"},
                          way{faults::kind::hang, "endless kernel"},
                          way{faults::kind::abort_in_helper, "abort in a library"},
                          way{faults::kind::garbage, "garbage in shared memory"},
                          way{faults::kind::stack_overflow, "stack overflow"},
                          way{faults::kind::exit, "exit in a library"}};

}  // namespace

breaker::breaker(const device& gpu, const load& l, std::int64_t started_ns)
    : gpu_(gpu), load_(l), started_ns_(started_ns), watch_(gpu.watch()), thread_([this] { run(); }) {}

breaker::~breaker() {
  if (thread_.joinable()) thread_.join();
}

std::vector<event> breaker::join() {
  if (thread_.joinable()) thread_.join();
  for (event& e : by_others()) events_.push_back(std::move(e));
  std::sort(events_.begin(), events_.end(), [](const event& a, const event& b) { return a.from_s < b.from_s; });
  return events_;
}

// Returns the faults that the demo has not caused, each until a worker served again.
std::vector<event> breaker::by_others() {
  std::vector<event> out;
  const auto now = std::chrono::system_clock::now();
  const double now_s = seconds(now_ns() - started_ns_);
  bool open = false;
  while (const auto e = watch_.poll()) {
    const double at_s = now_s - std::chrono::duration<double>(now - e->when).count();
    if (open && (e->kind == event_kind::serving || e->kind == event_kind::stopped)) {
      out.back().to_s = at_s;
      open = false;
    }
    const auto explains = [at_s](const event& o) { return o.from_s <= at_s && at_s <= o.to_s; };
    if (open || e->kind != event_kind::fault || std::any_of(events_.begin(), events_.end(), explains)) continue;
    const char* const signal = ::sigabbrev_np(e->fault->signal);
    out.push_back(
        {.from_s = at_s,
         .to_s = now_s,
         .what = "by others: " + (signal ? std::string("SIG") + signal : std::string(to_string(e->fault->kind))),
         .ours = false});
    open = true;
  }
  return out;
}

void breaker::run() {
  for (int i = 0; i < load_.faults; ++i) {
    const double at_s = load_.seconds * (i + 0.7) / (load_.faults + 0.4);
    const std::int64_t due = started_ns_ + static_cast<std::int64_t>(at_s * 1e9);
    if (const std::int64_t early = due - now_ns(); early > 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(early));
    const way& w = ways[static_cast<std::size_t>(i) % ways.size()];
    const std::int64_t began = now_ns() - started_ns_;
    faults::storm one(gpu_, {.kinds = {w.what},
                             .seed = static_cast<std::uint64_t>(i) + 1,
                             .per_second = 1e6,
                             .most = 1,
                             .run_timeout = std::chrono::milliseconds(100)});
    one.wait();
    for (const faults::injection& f : one.record())
      if (f.hit && f.answers_ns != 0)
        events_.push_back({seconds(began + f.at_ns), seconds(began + f.answers_ns), w.text});
  }
}

}  // namespace demo
