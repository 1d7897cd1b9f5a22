// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Every short sequence of events keeps the invariants of a device, and can be followed by a close that ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <troupe/device/testing/supervised.hpp>

namespace troupe {
namespace {

using namespace testing_device;

// Checks the invariants for every sequence of events up to a length, with time-outs in between.
class every_sequence {
 public:
  every_sequence(int depth, device_supervisor::limits l) {
    supervised d(l);
    facts f;
    check(d, d.feed(event::opened), event::opened, device_state::starting, f);
    walk(d, depth, f);
  }
  int sequences = 0;

 private:
  struct facts {
    std::set<std::uint32_t> alive, admitted;
    std::uint32_t serving = 0;
    bool refusing = false, ended = false;
  };

  void walk(const supervised& from, int depth, const facts& f) {
    ++sequences;
    if (depth == 1) check_that_it_closes(from, f);
    if (depth == 0 || testing::Test::HasFailure()) return;
    const auto go = [&](event e, std::uint32_t worker, std::int64_t pass) {
      if (testing::Test::HasFailure()) return;
      supervised d = from;
      d.now += pass;
      facts g = f;
      check(d, d.feed(e, worker), e, from.s.state(), g);
      walk(d, depth - 1, g);
    };
    for (const std::uint32_t w : f.alive)
      for (const event e :
           {event::worker_ready, event::worker_failed, event::worker_exited, event::not_launched, event::misbehaved})
        go(e, w, 0);
    for (const event e : {event::close_asked, event::close_now_asked, event::reset_asked, event::drained}) go(e, 0, 0);
    for (const std::int64_t pass : {second / 10, 6 * second, 31 * second}) go(event::tick, 0, pass);
  }

  // From now on no worker can be started, a worker that serves runs all requests, and others end.
  static void check_that_it_closes(supervised d, facts f) {
    const auto next = [&](event e, std::uint32_t worker) {
      const device_state before = d.s.state();
      check(d, d.feed(e, worker), e, before, f);
    };
    next(event::close_asked, 0);
    const std::int64_t begun = d.now;
    while (!d.s.ended() && d.now < begun + 200 * second && !testing::Test::HasFailure()) {
      const auto other = std::find_if(f.alive.begin(), f.alive.end(), [&](auto w) { return w != f.serving; });
      if (other != f.alive.end()) {
        next(f.admitted.contains(*other) ? event::worker_exited : event::not_launched, *other);
      } else if (f.serving != 0) {
        next(event::drained, 0);
        if (!d.s.ended()) next(event::worker_exited, f.serving);
      } else {
        d.now = std::max(d.now, d.s.next_tick().value_or(d.now));
        next(event::tick, 0);
      }
    }
    EXPECT_TRUE(d.s.ended()) << "it waits for ever:" << d.history;
  }

  static void check(const supervised& d, const actions& out, event e, device_state before, facts& f) {
    SCOPED_TRACE(d.history);
    std::int64_t answered = 0, stopped_told = 0;
    for (const auto& a : out) {
      SCOPED_TRACE(supervised::text(a));
      check_action(d, a, e, before, f);
      answered += a.kind == kind::answer_all;
      stopped_told += a.kind == kind::tell_stopped;
    }
    const bool stopped = d.s.state() == device_state::stopped;
    EXPECT_EQ(answered, stopped && before != device_state::stopped)
        << "all requests are answered exactly when the device stops";
    EXPECT_EQ(stopped_told, answered);
    EXPECT_TRUE(f.refusing == (d.s.state() >= device_state::closing));
    EXPECT_TRUE(!f.ended || stopped);
    EXPECT_TRUE(d.s.state() != device_state::ready || f.serving != 0) << "ready means that a worker serves";
    const bool can_go_on = d.s.next_tick() || !f.alive.empty();
    EXPECT_TRUE(can_go_on || stopped) << "no worker and no timer is left";
  }

  static void check_action(const supervised& d, const device_supervisor::action& a, event e, device_state before,
                           facts& f) {
    EXPECT_TRUE(!f.ended || a.kind == kind::forget_worker) << "it has ended";
    switch (a.kind) {
      case kind::launch:
        EXPECT_TRUE(f.alive.insert(a.worker).second);
        break;
      case kind::admit_worker:
        EXPECT_TRUE(f.alive.contains(a.worker));
        EXPECT_TRUE(f.admitted.insert(a.worker).second) << "it was admitted before";
        break;
      case kind::standby_ready:
        EXPECT_TRUE(f.admitted.contains(a.worker));
        EXPECT_TRUE(f.serving != 0 && f.serving != a.worker);
        break;
      case kind::await_drained:
        EXPECT_TRUE(f.refusing && a.state == device_state::closing);
        break;
      case kind::end_watches:
        EXPECT_EQ(before, device_state::stopped) << "tell_stopped includes it";
        f.ended = true;
        break;
      case kind::serve:
        EXPECT_TRUE(f.alive.contains(a.worker) && f.admitted.contains(a.worker));
        EXPECT_TRUE(f.serving == 0) << "two workers serve";
        f.serving = a.worker;
        break;
      case kind::refuse_new:
        EXPECT_TRUE(a.why && a.why->reaction() == reaction::stopped);
        f.refusing = true;
        break;
      case kind::accept_new:
        EXPECT_EQ(e, event::reset_asked);
        f.refusing = false;
        break;
      case kind::cancel_queued:
        EXPECT_TRUE(f.refusing);
        break;
      case kind::stop_worker:
      case kind::kill_worker:
      case kind::check_quiesced:
        EXPECT_TRUE(f.alive.contains(a.worker));
        break;
      case kind::forget_worker:
        EXPECT_EQ(f.alive.erase(a.worker), 1u);
        if (f.serving == a.worker) f.serving = 0;
        break;
      case kind::sort_out:
        EXPECT_EQ(f.serving, 0u) << "the worker that served may still be writing";
        EXPECT_TRUE(a.why);
        break;
      case kind::lost_standby:
        EXPECT_TRUE(a.why);
        EXPECT_NE(f.serving, a.worker);
        break;
      case kind::answer_all:
        EXPECT_TRUE(f.refusing && a.why);
        break;
      case kind::tell_stopped:
        f.serving = 0;
        f.alive.clear();
        EXPECT_EQ(a.final, d.s.ended());
        EXPECT_TRUE(a.final || before != device_state::closing);
        f.ended = a.final;
        break;
    }
  }
};

TEST(device_supervisor, keeps_its_invariants_in_every_sequence_of_five_events) {
  EXPECT_GT(every_sequence(5, {}).sequences, 100'000);
  EXPECT_GT(every_sequence(5, {.standbys = 0, .restarts = 1}).sequences, 50'000);
  EXPECT_GT(every_sequence(4, {.standbys = 2, .restarts = 0}).sequences, 5'000);
  EXPECT_GT(every_sequence(4, {.standbys = 0, .restartable = false}).sequences, 5'000);
}

}  // namespace
}  // namespace troupe
