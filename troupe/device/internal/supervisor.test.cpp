// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <troupe/device/internal/supervisor.hpp>

namespace troupe {
namespace {

using event = device_supervisor::event_kind;
using kind = device_supervisor::action_kind;

constexpr std::int64_t second = 1'000'000'000;
constexpr event all_events[] = {event::opened,          event::worker_ready, event::worker_failed,
                                event::worker_exited,   event::misbehaved,   event::close_asked,
                                event::close_now_asked, event::drained,      event::tick};

const char* name(event e) {
  const char* const names[] = {"opened",      "worker_ready",    "worker_failed", "worker_exited", "misbehaved",
                               "close_asked", "close_now_asked", "drained",       "tick"};
  return names[static_cast<int>(e)];
}

// A supervisor with a clock of its own: starts within 30 s, stops within 5 s.
struct supervised {
  device_supervisor s{{.start = time_span::of_seconds(30), .stop = time_span::of_seconds(5)}};
  std::int64_t now = 100 * second;
  std::string story;

  std::vector<device_supervisor::action> feed(event e) {
    story += std::string(" ") + name(e);
    const bool has_cause = e == event::worker_failed || e == event::worker_exited || e == event::misbehaved;
    return s.on({e, has_cause ? std::optional(error(reaction::context_lost, "test", std::string("cause: ") + name(e)))
                              : std::nullopt},
                now);
  }
  // "launch,tell_ready": what comes out.
  std::string on(event e) {
    std::string out;
    for (const auto& a : feed(e)) out += (out.empty() ? "" : ",") + text(a);
    return out;
  }
  std::string later(std::int64_t seconds) {
    now += seconds * second;
    return on(event::tick);
  }
  static std::string text(const device_supervisor::action& a) {
    const char* const names[] = {"launch",      "tell_ready",  "refuse_new", "cancel_queued",
                                 "stop_worker", "kill_worker", "answer_all", "tell_stopped"};
    std::string out = names[static_cast<int>(a.kind)];
    if (a.kind == kind::tell_stopped) out += a.why ? "(error)" : "(fine)";
    return out;
  }
};

TEST(device_supervisor, an_ordinary_life) {
  supervised d;
  EXPECT_EQ(d.on(event::opened), "launch");
  EXPECT_EQ(d.s.state(), device_state::starting);
  EXPECT_EQ(d.s.next_tick(), 130 * second);
  EXPECT_EQ(d.on(event::worker_ready), "tell_ready");
  EXPECT_EQ(d.s.state(), device_state::ready);
  EXPECT_EQ(d.s.next_tick(), std::nullopt);
  EXPECT_EQ(d.on(event::drained), "") << "only a device that closes cares";
  EXPECT_EQ(d.on(event::close_asked), "refuse_new");
  EXPECT_EQ(d.s.state(), device_state::closing);
  EXPECT_EQ(d.on(event::drained), "stop_worker");
  EXPECT_EQ(d.s.next_tick(), 105 * second);
  EXPECT_EQ(d.on(event::worker_exited), "answer_all,tell_stopped(fine)");
  EXPECT_EQ(d.s.state(), device_state::stopped);
  EXPECT_EQ(d.s.next_tick(), std::nullopt);
}

TEST(device_supervisor, a_worker_that_is_not_ready_in_time_is_killed) {
  supervised d;
  d.on(event::opened);
  EXPECT_EQ(d.later(29), "");
  EXPECT_EQ(d.later(1), "kill_worker,refuse_new,answer_all,tell_stopped(error)");
  EXPECT_EQ(d.on(event::worker_ready), "") << "too late";
}

TEST(device_supervisor, a_death_stops_the_device_and_nothing_is_killed_twice) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  const auto out = d.feed(event::worker_exited);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].kind, kind::refuse_new);
  EXPECT_EQ(out[0].why->reaction(), reaction::stopped);
  EXPECT_NE(out[0].why->text().find("cause: worker_exited"), std::string::npos);
  EXPECT_EQ(out[1].kind, kind::answer_all);
  EXPECT_EQ(out[1].why->reaction(), reaction::context_lost);
  EXPECT_EQ(out[2].kind, kind::tell_stopped);
}

TEST(device_supervisor, misbehaviour_kills_the_worker) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  EXPECT_EQ(d.on(event::misbehaved), "kill_worker,refuse_new,answer_all,tell_stopped(error)");
}

TEST(device_supervisor, an_orderly_close_has_no_deadline_while_work_is_queued) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  d.on(event::close_asked);
  EXPECT_EQ(d.later(3600), "");
  EXPECT_EQ(d.on(event::drained), "stop_worker");
}

TEST(device_supervisor, an_orderly_close_before_ready_outlives_the_start_timeout_once_the_worker_is_ready) {
  supervised d;
  d.on(event::opened);
  EXPECT_EQ(d.on(event::close_asked), "refuse_new");
  d.now += 10 * second;
  EXPECT_EQ(d.on(event::worker_ready), "") << "nobody is told ready any more";
  EXPECT_EQ(d.s.state(), device_state::closing);
  EXPECT_EQ(d.later(3600), "");
}

TEST(device_supervisor, an_orderly_close_of_a_worker_that_never_starts_ends_at_the_start_timeout_saying_so) {
  supervised d;
  d.on(event::opened);
  d.on(event::close_asked);
  d.now += 30 * second;
  const auto out = d.feed(event::tick);
  ASSERT_FALSE(out.empty());
  EXPECT_NE(out.back().why->text().find("ready in time"), std::string::npos) << out.back().why->text();
}

TEST(device_supervisor, a_worker_that_does_not_end_when_asked_is_killed_and_nothing_is_lost) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  d.on(event::close_asked);
  d.on(event::drained);
  EXPECT_EQ(d.later(5), "kill_worker");
  EXPECT_EQ(d.on(event::worker_exited), "answer_all,tell_stopped(fine)");
}

TEST(device_supervisor, a_worker_that_cannot_be_ended_is_given_up) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  d.on(event::close_asked);
  d.on(event::drained);
  EXPECT_EQ(d.later(5), "kill_worker");
  EXPECT_EQ(d.later(4), "");
  EXPECT_EQ(d.later(1), "refuse_new,answer_all,tell_stopped(error)");
  EXPECT_EQ(d.s.state(), device_state::stopped);
}

TEST(device_supervisor, close_now_cancels_and_ends_what_runs_too_long) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  EXPECT_EQ(d.on(event::close_now_asked), "refuse_new,cancel_queued");
  d.now += 3 * second;
  EXPECT_EQ(d.on(event::close_now_asked), "") << "asking again does not give it more time";
  EXPECT_EQ(d.on(event::close_asked), "");
  const auto out = (d.now += 2 * second, d.feed(event::tick));
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[2].why->reaction(), reaction::context_lost);
}

TEST(device_supervisor, close_now_after_an_orderly_close_is_the_harder_one) {
  supervised d;
  d.on(event::opened);
  d.on(event::worker_ready);
  d.on(event::close_asked);
  EXPECT_EQ(d.on(event::close_now_asked), "cancel_queued");
  EXPECT_EQ(d.later(5), "kill_worker,refuse_new,answer_all,tell_stopped(error)");
}

TEST(device_supervisor, limits_without_end_never_fire) {
  device_supervisor s({.start = time_span::for_ever(), .stop = time_span::for_ever()});
  s.on({event::opened}, 100 * second);
  EXPECT_TRUE(s.on({event::tick}, INT64_MAX - 1).empty());
  s.on({event::close_now_asked}, 100 * second);
  EXPECT_TRUE(s.on({event::tick}, INT64_MAX - 1).empty());
}

// Every sequence of events up to a length, and time-outs after each: what must hold whatever happens.
class every_story {
 public:
  explicit every_story(int depth) { walk(opened(), depth, {}); }
  int stories = 0;

 private:
  static supervised opened() {
    supervised d;
    d.on(event::opened);
    return d;
  }
  struct facts {
    bool refusing = false, told_ready = false, told_stopped = false, launched_again = false;
  };

  void walk(const supervised& from, int depth, facts f) {
    ++stories;
    if (depth == 0 || testing::Test::HasFatalFailure()) return;
    for (const event e : all_events) {
      if (e == event::opened) continue;
      for (const std::int64_t pass : {std::int64_t{0}, std::int64_t{6}, std::int64_t{31}}) {
        if (pass != 0 && e != event::tick) continue;
        supervised d = from;
        d.now += pass * second;
        facts g = f;
        check(d, d.feed(e), e, from.s.state(), g);
        if (testing::Test::HasFailure()) return;
        walk(d, depth - 1, g);
      }
    }
  }

  static void check(const supervised& d, const std::vector<device_supervisor::action>& out, event e,
                    device_state before, facts& f) {
    SCOPED_TRACE(d.story);
    EXPECT_TRUE(before != device_state::stopped || out.empty()) << "a stopped device does nothing";
    EXPECT_GE(d.s.state(), before) << "states only go forward";
    std::vector<kind> kinds;
    for (const auto& a : out) {
      EXPECT_EQ(std::count(kinds.begin(), kinds.end(), a.kind), 0) << "twice at once: " << supervised::text(a);
      kinds.push_back(a.kind);
      switch (a.kind) {
        case kind::launch:
          ADD_FAILURE() << "launched again";
          break;
        case kind::tell_ready:
          EXPECT_FALSE(f.told_ready || f.refusing);
          f.told_ready = true;
          break;
        case kind::refuse_new:
        case kind::cancel_queued:
          EXPECT_TRUE(a.why) << supervised::text(a);
          EXPECT_EQ(a.why->reaction(), reaction::stopped);
          f.refusing = true;
          break;
        case kind::stop_worker:
          EXPECT_EQ(d.s.state(), device_state::closing);
          break;
        case kind::kill_worker:
          EXPECT_NE(e, event::worker_exited) << "it is gone";
          break;
        case kind::answer_all:
          EXPECT_TRUE(f.refusing) << "new requests must be refused before the old ones are answered";
          EXPECT_TRUE(a.why);
          break;
        case kind::tell_stopped:
          EXPECT_FALSE(f.told_stopped);
          EXPECT_EQ(a.kind, out.back().kind) << "last of all";
          f.told_stopped = true;
          break;
      }
    }
    const bool stopped = d.s.state() == device_state::stopped;
    EXPECT_EQ(stopped, f.told_stopped) << "told exactly when it happens";
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kind::answer_all), stopped && before != device_state::stopped)
        << "everything is answered exactly then";
    EXPECT_FALSE(stopped && d.s.next_tick()) << "nothing is left to wait for";
    EXPECT_TRUE(f.refusing || d.s.state() < device_state::closing);
    EXPECT_TRUE(stopped || (e != event::worker_exited && e != event::misbehaved && e != event::worker_failed));
  }
};

TEST(device_supervisor, every_story_of_five_events_keeps_the_rules) {
  const every_story all(5);
  EXPECT_GT(all.stories, 100'000);
}

}  // namespace
}  // namespace troupe
