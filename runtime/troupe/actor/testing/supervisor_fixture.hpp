// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <troupe/actor/manual_clock.hpp>
#include <troupe/actor/spawn.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/actor/testing/manual_executor.hpp>
#include <troupe/async/promise.hpp>

namespace troupe::supervisor_tests {

using namespace std::chrono_literals;
using testing::manual_executor;
using log = std::vector<std::string>;

struct bump {};
struct crash {};
struct finish {};
struct hang {
  pending<void> until;
};

/// Logs its start and its end, and counts messages.
struct worker {
  worker(actor_context<worker>& c, log* d) : self(c), diary(d) { diary->push_back("+" + self.name()); }
  ~worker() { diary->push_back("-" + self.name()); }
  int handle(bump) { return ++count; }
  void handle(crash) { throw std::runtime_error("boom"); }
  void handle(finish) { self.leave(); }
  task<void> handle(hang m) { (void)co_await as_result(m.until); }
  actor_context<worker>& self;
  log* diary;
  int count = 0;
};

/// A supervisor on this thread with a manual clock and three workers: a, b and c.
struct trio {
  explicit trio(strategy s, enum restart r = restart::permanent) {
    for (const char* id : {"a", "b", "c"}) {
      auto made = supervise<worker>(id, {}, &diary);
      made.spec.restart = r;
      refs.push_back(made.ref);
      specs.push_back(made.spec);
    }
    top = spawn<supervisor>({.name = "top"}, supervisor_options{.strategy = s, .clock = &clock}, specs);
  }
  log take_log() { return std::exchange(diary, {}); }
  child_counts counts() { return top.ask(count_children{}).get().value(); }

  manual_clock clock;
  log diary;
  std::vector<supervised_ref<worker>> refs;
  std::vector<child_spec> specs;
  actor_ref<supervisor> top;
};

}  // namespace troupe::supervisor_tests
