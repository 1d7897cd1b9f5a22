// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of stray writes that change single words: a request that has failed must not be answered as a success because
// of one, and nothing may wait forever.
#include <csignal>
#include <thread>
#include <troupe/device/peers.hpp>
#include <troupe/memory/copying/staging.hpp>

#include "hostile_fixture.hpp"

namespace troupe::whole::hostile_tests {
namespace {

// The application reads a report whose first word was overwritten with zeros.
TEST_F(hostile, a_report_that_is_counted_and_missing_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        const auto [ticket, slot] = *waiting(c).begin();
        c.log(5, 1).store(protocol::log_word(ticket, slot));
        c.page().reports.store(1);
        finish_one(c, 5);
      },
      "a count that includes a missing report");
}

TEST_F(hostile, an_impossible_count_of_reports_is_detected) {
  for (const std::uint64_t word :
       {std::uint64_t{0}, UINT64_MAX, checked_count::word_of(0) ^ 1u << 20, checked_count::word_of(1'000'000)}) {
    SCOPED_TRACE(word);
    with_damage_and_restart([word](const protocol::view& c) { c.page().reports.word().store(word), announce(c); },
                            "count of reports");
  }
}

TEST_F(hostile, a_second_report_for_a_request_is_detected) {
  with_damage(
      [](const protocol::view& c) {
        const auto [ticket, slot] = *waiting(c).begin();
        auto region = ring_region::open(c.reports());
        ASSERT_TRUE(region);
        ring_writer writer(*region);
        for (std::uint64_t number = 1; number <= 2; ++number)
          report(c,
                 {.number = number,
                  .ticket = ticket,
                  .cause_ticket = ticket,
                  .slot = slot,
                  .reaction = static_cast<std::uint8_t>(reaction::context_lost)},
                 three_empty_texts, &writer);
        announce(c);
      },
      "second report");
}

TEST_F(hostile, a_word_that_is_no_count_of_operations_is_detected) {
  for (const std::uint64_t word : {std::uint64_t{0}, UINT64_MAX, std::uint64_t{1}, checked_count::word_of(1) ^ 2}) {
    SCOPED_TRACE(word);
    with_damage_and_restart([word](const protocol::view& c) { c.page().lanes[5].done.word().store(word), announce(c); },
                            "lane's counter");
  }
}

// Later requests wait for the request, whether it was answered or not.
TEST_F(hostile, a_request_that_is_reported_and_never_counted_has_its_time_limit) {
  const device lied_to = rt.open_device(with_test_engines({.mailbox_capacity = capacity, .restarts = 5}));
  blockade b(lied_to);
  ASSERT_TRUE(b.entered());
  auto fails = lied_to.ask(nap{.microseconds = 1}, {.run_timeout = 500ms});
  const channel_of_worker channel(lied_to, capacity);
  ASSERT_TRUE(channel.found());
  const auto [ticket, slot] = *waiting(*channel).begin();
  report(*channel, {.number = 1,
                    .ticket = ticket,
                    .cause_ticket = ticket,
                    .slot = slot,
                    .reaction = static_cast<std::uint8_t>(reaction::unsupported)});
  announce(*channel);
  EXPECT_TRUE(is_error(error_of(std::move(fails)), reaction::unsupported, {}));
  const auto got = b.answer().get_for(20s);
  if (!got) kill_worker(lied_to);
  ASSERT_TRUE(got) << "nothing ends it";
  EXPECT_TRUE(is_error(error_of(*got), reaction::context_lost, {"did not count it as done", "500 ms"}));
}

// Nobody waits for it any more, but it keeps its slot, and the device cannot close before the worker has skipped it.
TEST_F(hostile, a_cancelled_request_that_is_never_skipped_has_its_time_limit) {
  const device lied_to = rt.open_device(with_test_engines(
      {.mailbox_capacity = capacity, .restarts = 5, .start_timeout = 1s, .heartbeat_timeout = time_span::for_ever()}));
  EXPECT_OK(lied_to.ask(nap{.microseconds = 1}).get());
  stop_worker(lied_to);
  auto cancelled = lied_to.ask(nap{.microseconds = 1}, {.timeout = 50ms, .run_timeout = 500ms});
  EXPECT_FALSE(cancelled.get());
  auto closed = lied_to.close();
  const auto got = closed.get_for(20s);
  if (!got) kill_worker(lied_to);
  EXPECT_TRUE(got) << "nothing ends the worker";
}

// Returns the counts of the copy between devices that is in progress.
staging_header* counts_of_copy() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("troupe-peers") == std::string::npos) continue;
    std::size_t used = 0;
    const std::uint64_t begin = std::stoull(line, &used, 16), end = std::stoull(line.substr(used + 1), nullptr, 16);
    for (std::uint64_t at = begin; at + sizeof(staging_header) <= end; at += 64)
      if (auto* h = reinterpret_cast<staging_header*>(at); h->filled.reaches(1) && !h->is_damaged()) return h;
  }
  return nullptr;
}

// If the counts say that everything has been copied, neither device continues.
TEST_F(hostile, a_copy_between_devices_has_a_time_limit_whatever_its_counts_say) {
  const auto open = [this] {
    device_options o = with_test_engines({.restarts = 5, .heartbeat_timeout = time_span::for_ever()});
    o.peer_access = false;
    return rt.open_device(o);
  };
  const device from = open(), to = open();
  const auto source = from.alloc<float>(1 << 22), target = to.alloc<float>(1 << 22);
  EXPECT_OK(from.fill(source, 1.0f).get());
  EXPECT_OK(to.fill(target, 0.0f).get());
  blockade b(to);
  ASSERT_TRUE(b.entered());
  to.tell(increment{.x = target, .n = 1000});  // so that the source's half of the copy waits
  auto copied = copy_between(to, target, from, source, {.run_timeout = 500ms});
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  const auto in_time = [deadline] { return std::chrono::steady_clock::now() < deadline; };
  staging_header* counts = nullptr;
  while (counts == nullptr && in_time()) counts = counts_of_copy();
  ASSERT_NE(counts, nullptr);
  stop_worker(from);
  const std::uint64_t all = (std::uint64_t{4} << 22) / (std::uint64_t{256} << 10);
  counts->filled.store(all);
  counts->emptied.store(all);
  while (from.statistics().faults == 0 && in_time()) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(from.statistics().faults, 1u) << "nothing ends it";
  if (from.statistics().faults == 0) kill_worker(from);
  b.lift();
  EXPECT_TRUE(is_error(error_of(std::move(copied)), reaction::context_lost, {"run_timeout of 500 ms"}));
}

}  // namespace
}  // namespace troupe::whole::hostile_tests
