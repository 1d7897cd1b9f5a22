// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests with a worker that writes arbitrary data to the memory that it shares with the application. The application
// must answer every request exactly once, with typed errors, and must neither crash nor hang.
#include <random>

#include "hostile_fixture.hpp"

namespace troupe::whole::hostile_tests {
namespace {

TEST_F(hostile, a_progress_counter_that_leaps_is_detected) {
  with_damage([](const protocol::view& c) { c.page().lanes[3].done.store(1'000'000), announce(c); }, "counter");
}
TEST_F(hostile, a_progress_counter_that_goes_back_is_detected) {
  with_damage([](const protocol::view& c) { c.page().lanes[0].done.store(UINT64_MAX), announce(c); }, "counter");
}
TEST_F(hostile, a_progress_counter_that_leaps_discredits_all_others) {
  with_damage(
      [](const protocol::view& c) {
        const auto [ticket, slot] = *waiting(c).begin();
        c.log(5, 1).store(protocol::log_word(ticket, slot));
        c.page().lanes[9].done.store(1'000'000);
        finish_one(c, 5);
      },
      "counter");
}
TEST_F(hostile, a_lane_log_with_a_nonexistent_slot_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        c.log(5, 1).store(0xfffff);
        finish_one(c, 5);
      },
      "log");
}
TEST_F(hostile, a_lane_log_with_an_unknown_request_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        c.log(5, 1).store(protocol::log_word(999'999, 3));
        finish_one(c, 5);
      },
      "log");
}
TEST_F(hostile, a_lane_log_that_completes_a_request_twice_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        // A single false value cannot be detected, but the second one is impossible.
        const auto [ticket, slot] = *waiting(c).begin();
        c.log(5, 1).store(protocol::log_word(ticket, slot));
        c.log(5, 2).store(protocol::log_word(ticket, slot));
        c.page().lanes[5].done.store(2);
        announce(c);
      },
      "log", 1);
}
TEST_F(hostile, an_empty_report_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        report(c, {.number = 77, .ticket = 1, .cause_ticket = 1, .slot = 0});
        finish_one(c, 9);
      },
      "report");
}
TEST_F(hostile, a_report_for_a_slot_outside_the_mailbox_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        report(c, {.number = 1, .ticket = 1, .cause_ticket = 1, .slot = UINT32_MAX});
        finish_one(c, 9);
      },
      "report");
}
TEST_F(hostile, a_report_for_a_request_that_left_its_slot_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        const auto [ticket, slot] = *waiting(c).begin();
        report(c, {.number = 1, .ticket = ticket + 5, .cause_ticket = 1, .slot = slot});
        finish_one(c, 9);
      },
      "report");
}
TEST_F(hostile, a_report_with_an_invalid_reaction_or_text_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        report(c, {.number = 1, .ticket = 1, .cause_ticket = 1, .slot = 1, .reaction = 200, .chain = 255}, 0);
        finish_one(c, 9);
      },
      "report");
}
TEST_F(hostile, a_report_ring_full_of_garbage_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        std::mt19937_64 random(seed_or(5));
        for (std::byte& b : c.reports().subspan(384)) b = static_cast<std::byte>(random());
        finish_one(c, 9);
      },
      "report ring");
}

// Requests that were sent are in the application's own memory, so they outlive the worker.
TEST_F(hostile, a_worker_cannot_write_to_the_commands) {
  EXPECT_OK(gpu.sync().get());
  const std::string process = "/proc/" + std::to_string(gpu.statistics().worker_pid.value());
  int found = 0;
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("troupe-mailbox") == std::string::npos) continue;
    ++found;
    EXPECT_NE(line.find(" r--s "), std::string::npos) << line;
  }
  EXPECT_EQ(found, 1);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().find("troupe-mailbox") == std::string::npos)
      continue;
    auto file = memory_file::open(file_descriptor(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC)));
    if (!file) continue;
    EXPECT_FALSE(mapping::map(*file, map_access::read_write));
  }
}

TEST_F(hostile, garbage_in_replies_and_slots_causes_only_wrong_numbers) {
  EXPECT_OK(gpu.sync().get());
  const channel_of_worker seen(gpu, capacity);
  ASSERT_TRUE(seen.found());
  std::mt19937_64 random(seed_or(6));
  std::vector<pending<widest::reply>> answers;
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  for (std::uint64_t i = 0; i < 50; ++i) answers.push_back(gpu.ask(widest{.seed = i}));
  for (std::uint32_t slot = 0; slot < capacity; ++slot) {
    for (std::byte& byte : seen->cell(slot).bytes) byte = static_cast<std::byte>(random());
    seen->slot(slot).store(random());
  }
  b.lift();
  for (auto& a : answers) EXPECT_OK(a.get());
  EXPECT_EQ(gpu.ping(5).get().value_or(0), 5u);
}

TEST_F(hostile, damaged_wake_words_do_not_keep_threads_asleep_after_the_worker_ends) {
  EXPECT_OK(gpu.sync().get());
  const channel_of_worker channel(gpu, capacity);
  ASSERT_TRUE(channel.found());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  tally awaited;
  for (int i = 0; i < 20; ++i) awaited.watch(gpu.ask(increment{.x = x, .n = 10}));
  std::atomic<int> blocked{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&] {
      auto answer = gpu.sync();
      blocked.fetch_add(1);
      EXPECT_TRUE(is_error(error_of(answer.get()), reaction::context_lost, {"SIGKILL"}));
    });
  }
  while (blocked != 3) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) {
    channel->page().epoch.store(0);
    channel->page().idle_epoch.store(0);
    std::this_thread::yield();
  }
  kill_worker(gpu);
  for (auto& w : waiting) w.join();
  awaited.await_all();
  EXPECT_EQ(awaited.failed(reaction::context_lost), 20);
}

TEST_F(hostile, a_pump_is_woken_even_if_its_wake_word_was_overwritten) {
  const device watched = rt.open_device(with_test_engines({.mailbox_capacity = capacity, .heartbeat_timeout = 1s}));
  EXPECT_OK(watched.ping().get());
  const channel_of_worker channel(watched, capacity);
  ASSERT_TRUE(channel.found());
  std::atomic<std::uint32_t>& word = channel->page().pump_sleeps;
  do {  // if it is about to sleep, it sees the change and announces its sleep again
    while (word.exchange(0) == 0) std::this_thread::yield();
    std::this_thread::sleep_for(100ms);
  } while (word.load() != 0);
  auto answer = watched.ping(6);
  const auto got = answer.get_for(20s);
  ASSERT_TRUE(got) << "the pump sleeps";
  EXPECT_EQ(got->value_or(0), 6u);
  EXPECT_EQ(watched.statistics().faults, 0u);
}

// Overwrites the states of all slots while requests wait behind one that blocks the worker.
TEST_F(hostile, an_invalid_slot_state_does_not_prevent_cancellation) {
  for (const bool by_time_out : {true, false}) {
    const device lied_to = rt.open_device(with_test_engines({.mailbox_capacity = capacity}));
    const blockade b(lied_to);
    ASSERT_TRUE(b.entered());
    auto waits =
        lied_to.ask(nap{.microseconds = 1}, {.timeout = by_time_out ? time_span(300ms) : time_span::for_ever()});
    const channel_of_worker channel(lied_to, capacity);
    ASSERT_TRUE(channel.found());
    for (std::uint32_t slot = 0; slot < capacity; ++slot) channel->slot(slot).store(UINT64_MAX);
    if (!by_time_out) waits.cancel();
    const auto got = waits.get_for(20s);
    if (!got) kill_worker(lied_to);
    ASSERT_TRUE(got) << "nothing ends it";
    EXPECT_TRUE(is_error(error_of(*got), reaction::context_lost, {"impossible", "state of a request"}));
  }
}

TEST_F(hostile, an_overwritten_slot_state_does_not_lift_the_time_limit) {
  for (const std::uint64_t wrong : {std::uint64_t{0}, UINT64_MAX}) {
    const device lied_to = rt.open_device(with_test_engines({.mailbox_capacity = capacity, .run_timeout = 2s}));
    auto endless = lied_to.ask(spin{.gate = lied_to.alloc_host<std::uint32_t>(2, {.zeroed = true})});
    const channel_of_worker channel(lied_to, capacity);
    ASSERT_TRUE(channel.found());
    std::this_thread::sleep_for(600ms);  // the watchdog has observed that it is running
    for (std::uint32_t slot = 0; slot < capacity; ++slot) channel->slot(slot).store(wrong);
    const auto got = endless.get_for(20s);
    if (!got) kill_worker(lied_to);
    ASSERT_TRUE(got) << "nothing ends it; " << wrong;
    EXPECT_TRUE(is_error(error_of(*got), reaction::context_lost, {"impossible", "state of a request"}));
  }
}

TEST_F(hostile, a_request_that_hides_its_start_still_has_a_time_limit) {
  device_options o = with_test_engines({.mailbox_capacity = capacity, .start_timeout = 4s});
  o.restarts = 2;
  o.salvage = salvage::untouched;
  const device lied_to = rt.open_device(o);
  const auto gate = lied_to.alloc_host<std::uint32_t>(2, {.zeroed = true});
  EXPECT_OK(lied_to.ask(nap{.microseconds = 1}).get());
  const channel_of_worker channel(lied_to, capacity);
  ASSERT_TRUE(channel.found());
  std::uint64_t last = 0;
  for (std::uint32_t slot = 0; slot < capacity; ++slot)
    last = std::max(last, protocol::ticket_of(channel->slot(slot).load()));
  auto endless = lied_to.ask(spin{.gate = gate}, {.run_timeout = 2s});
  const auto forget = [&] {  // before any thread of the application has read the state
    for (std::uint32_t slot = 0; slot < capacity; ++slot)
      if (std::uint64_t word = channel->slot(slot).load();
          protocol::ticket_of(word) > last && protocol::phase_of(word) == protocol::phase::started)
        return channel->slot(slot).store(0), true;
    return false;
  };
  while (!forget()) std::this_thread::yield();
  auto behind = lied_to.ping(5);
  const auto got = endless.get_for(30s);
  if (!got) kill_worker(lied_to);
  ASSERT_TRUE(got) << "nothing ends it";
  EXPECT_TRUE(is_error(error_of(*got), reaction::context_lost, {"testing.spin", "run_timeout of 2000 ms"}));
  EXPECT_EQ(lied_to.statistics().generation, 3u) << "the next worker has run the request again";
  EXPECT_EQ(behind.get().value_or(0), 5u);
}

TEST_F(hostile, a_download_reported_done_before_its_data_is_an_error) {
  const auto big = gpu.alloc<float>(1 << 20);
  EXPECT_OK(gpu.fill(big, 1.0f).get());
  const channel_of_worker channel(gpu, capacity);
  ASSERT_TRUE(channel.found());
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto holding = gpu.ask(hold_slowly{.gate = gate, .result = big.slice(0, 1)});
  auto down = gpu.download(big);  // waits behind the request that runs
  const auto [ticket, slot] = *waiting(*channel).rbegin();
  channel->log(9, 1).store(protocol::log_word(ticket, slot));
  channel->page().lanes[9].done.store(1);
  announce(*channel);
  EXPECT_TRUE(is_error(error_of(down.get()), reaction::context_lost, {"filled 0 of 16"}));
  kill_worker(gpu);
}

TEST(hostile_survivor, a_dishonest_worker_is_not_trusted_about_unstarted_requests) {
  for (const bool by_counter : {true, false}) {
    SCOPED_TRACE(by_counter ? "an impossible counter" : "impossible words");
    constexpr std::uint32_t capacity = 64;
    runtime rt;
    const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = capacity, .restarts = 5}));
    const auto x = gpu.alloc<float>(1000);
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    const channel_of_worker channel(gpu, capacity);
    ASSERT_TRUE(channel.found());
    auto behind = gpu.ask(increment{.x = x, .n = 1000});
    // The request is running, and no word says so any longer.
    for (std::uint32_t slot = 0; slot < capacity; ++slot) channel->slot(slot).store(by_counter ? 0 : UINT64_MAX);
    if (by_counter) {
      channel->page().lanes[3].done.store(1'000'000);
      channel->page().epoch.fetch_add(1);
      futex_wake(channel->page().epoch, futex_scope::shared);
      channel->page().idle_epoch.fetch_add(1);
      futex_wake(channel->page().idle_epoch, futex_scope::shared);
    } else {
      kill_worker(gpu);
    }
    const auto held = b.answer().get_for(10s);
    ASSERT_TRUE(held) << "the request runs again";
    EXPECT_TRUE(is_error(error_of(*held), reaction::context_lost, {"testing.hold"}));
    EXPECT_TRUE(is_error(error_of(std::move(behind)), reaction::context_lost, {"testing.increment"}));
    EXPECT_EQ(gpu.ping(3).get().value(), 3u);
    EXPECT_EQ(gpu.statistics().generation, 2u);
  }
}

// Damages everything at random except the request ring, which only the application can write, while requests are in
// flight.
TEST(hostile_storm, random_damage_leaves_one_answer_for_each_request) {
  const std::uint64_t first_seed = seed_or(20260101);
  for (std::uint64_t round = 0; round < 12; ++round) {
    const std::uint64_t seed = first_seed + round;
    SCOPED_TRACE("TROUPE_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    constexpr std::uint32_t capacity = 64;
    tally answers;
    runtime rt;
    // Damaged requests may not be answered before this thread closes the device, so it must not wait for room.
    const device gpu = rt.open_device(
        with_test_engines({.mailbox_capacity = capacity, .when_full = when_full::refuse, .close_timeout = 50ms}));
    const auto x = gpu.alloc<float>(50'000);
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    const channel_of_worker channel(gpu, capacity);
    ASSERT_TRUE(channel.found());
    const protocol::layout at = channel->at;
    std::vector<std::uint64_t> places;
    for (std::uint64_t a = at.page; a + 8 <= at.page + sizeof(protocol::progress_page); a += 8) places.push_back(a);
    for (std::uint64_t a = at.cells; a < at.cells + 64 * capacity; a += 64) places.push_back(a);
    for (std::uint64_t a = at.logs; a < at.logs + 8 * capacity * max_lanes; a += 8) places.push_back(a);
    for (std::uint64_t a = at.reports; a < at.reports + 4096; a += 8) places.push_back(a);
    for (int i = 0; i < 400; ++i) {
      switch (random() % 4) {
        case 0:
          answers.watch(gpu.ask(increment{.x = x, .n = 50'000}));
          break;
        case 1:
          answers.watch(gpu.download(x));
          break;
        case 2:
          answers.watch(gpu.ask(widest{.seed = random()}));
          break;
        case 3:
          answers.watch(gpu.ask(spoil{.target = gpu.alloc<float>(10), .n = 10, .text = "storm"}));
          break;
      }
      if (random() % 8 != 0) continue;
      const std::uint64_t value = random() % 2 != 0 ? random() : random() % 200;
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(channel.bytes().data() + places[random() % places.size()]))
          .store(value);
    }
    (void)gpu.close_now().get();
    answers.await_all();
    EXPECT_EQ(answers.answered(), answers.expected());
    EXPECT_EQ(gpu.state(), device_state::stopped);
    EXPECT_EQ(gpu.statistics().depth, 0u);
  }
}

}  // namespace
}  // namespace troupe::whole::hostile_tests
