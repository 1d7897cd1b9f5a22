// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Watches a device: its events in order, the record of its last fault, and its statistics.
#include <signal.h>

#include <cstdio>
#include <string>
#include <troupe/blas/blas.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

task<result<std::vector<device_event>>> until(device_watch& events, event_kind last) {
  std::vector<device_event> seen;
  do {
    seen.push_back(co_await events.next());
    std::printf("%s\n", seen.back().text().c_str());
  } while (seen.back().kind != last);
  co_return seen;
}

int count(const std::vector<device_event>& events, event_kind kind) {
  int n = 0;
  for (const device_event& e : events) n += e.kind == kind;
  return n;
}

task<result<int>> all(device gpu) {
  int wrong = 0;
  device_watch events = gpu.watch();
  co_await gpu.started();
  wrong += !gpu.ready() || gpu.last_fault() != nullptr || gpu.name() != "watched";

  auto x = gpu.alloc<float>(1000), y = gpu.alloc<float>(1000);
  co_await gpu.fill(x, 1.0f);
  co_await gpu.ask(blas::copy<float>{.x = x, .y = y, .n = 1000});
  const device_statistics before = gpu.statistics();
  wrong += before.state != device_state::ready || before.generation != 1 || before.faults != 0;
  wrong += before.memory.live_buffers != 2 || before.memory.used_bytes < 8000;
  wrong += before.completed < 2 || before.failed != 0 || !before.worker_pid || before.engine != "host";

  const auto crash = co_await as_result(gpu.ask(faults::segmentation_fault{.through = x.as<std::byte>(), .number = 5}));
  wrong += crash || crash.error().reaction() != reaction::context_lost || crash.error().generation() != 1;
  co_await gpu.ping(1);
  const std::vector<device_event> first = co_await until(events, event_kind::fault);
  wrong += first.back().fault == nullptr || first.back().fault->signal != SIGSEGV;
  const std::vector<device_event> then = co_await until(events, event_kind::serving);
  wrong += then.back().generation != 2 || count(first, event_kind::fault) != 1;

  const auto box = gpu.last_fault();
  wrong += !box || box->device != "watched" || box->kind != fault_kind::ended || box->generation != 1;
  wrong += box->worker_pid != before.worker_pid || !box->blamed || box->blamed->name != "faults.segmentation_fault";
  wrong += box->lost != 1 || box->last.empty() || box->last.back().fate != request_fate::lost;
  wrong += box->text().find("SIGSEGV") == std::string::npos || x.readable() || y.readable();
  wrong += x.cause()->reaction() != reaction::context_lost;

  const device_statistics after = gpu.statistics();
  wrong += after.faults != 1 || after.generation != 2 || after.worker_pid == before.worker_pid;

  auto stopped = gpu.stopped();
  co_await gpu.close();
  co_await std::move(stopped);
  const std::vector<device_event> last = co_await until(events, event_kind::stopped);
  wrong += count(last, event_kind::closing) != 1 || last.back().cause.has_value();
  wrong += gpu.ready() || gpu.state() != device_state::stopped || events.missed() != 0;
  const auto over = co_await as_result(events.next());
  wrong += over || over.error().reaction() != reaction::stopped;
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device({.name = "watched"})));
  if (!wrong) return std::fprintf(stderr, "watching: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
