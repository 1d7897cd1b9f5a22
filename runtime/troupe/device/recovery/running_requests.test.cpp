// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/recovery/running_requests.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>

namespace troupe {
namespace {

constexpr std::uint32_t capacity = 64, lane = 2, other = 5, third = 7;

// All requests have started, and a request's slot number is its ticket.
class running_request : public testing::Test {
 protected:
  std::uint64_t send(std::uint32_t on, protocol::gate gate = {}, bool timed = true) {
    const std::uint64_t ticket = ++sent_;
    const auto slot = static_cast<std::uint32_t>(ticket);
    ledger_entry& e = ledger_[slot];
    e.ticket = ticket;
    e.run_limit_ns = timed ? 1 : no_deadline;
    e.in_flight = true;
    channel_.view().log(on, ++issued_[on]).store(protocol::log_word(ticket, slot));
    channel_.view().gate(slot).store(gate.word());
    channel_.view().slot(slot).store(protocol::slot_word(ticket, protocol::phase::started));
    return ticket;
  }
  std::uint64_t send_untimed(std::uint32_t on) { return send(on, protocol::gate(~std::uint64_t{0}), false); }
  // Returns the gate of a request that waits on the GPU for these: pairs of lane and ticket.
  static protocol::gate behind(std::initializer_list<std::pair<std::uint32_t, std::uint64_t>> all) {
    protocol::gate out;
    for (const auto& [on, ticket] : all) out.add(on, protocol::log_word(ticket, 9));
    return out;
  }
  static protocol::gate with_the_one_before() {
    protocol::gate out;
    out.share_a_call();
    return out;
  }
  void retire(std::uint32_t on) {
    const std::uint64_t word = channel_.view().log(on, ++retired_[on]).load();
    ledger_[protocol::slot_of(word)].in_flight = false;
  }
  std::vector<std::uint64_t> running(bool streams = true) const {
    const running_requests now(channel_.view(), ledger_, retired_, streams);
    std::vector<std::uint64_t> out;
    for (std::uint64_t t = 1; t <= sent_; ++t) {
      const ledger_entry& e = ledger_[static_cast<std::uint32_t>(t)];
      if (e.in_flight && e.run_limit_ns != no_deadline && now.runs(static_cast<std::uint32_t>(t), t)) out.push_back(t);
    }
    return out;
  }
  using tickets = std::vector<std::uint64_t>;

  testing_worker::channel_in_memory channel_{capacity};
  ledger ledger_{capacity};
  std::array<std::uint64_t, max_lanes> issued_{}, retired_{};
  std::uint64_t sent_ = 0;
};

TEST_F(running_request, is_only_the_first_request_of_each_lane) {
  for (const std::uint32_t on : {lane, lane, other, other, lane}) send(on);
  EXPECT_EQ(running(), (tickets{1, 3}));
  retire(lane);
  EXPECT_EQ(running(), (tickets{2, 3}));
}

TEST_F(running_request, is_every_started_request_if_lanes_are_not_streams) {
  for (const std::uint32_t on : {lane, lane, other}) send(on);
  EXPECT_EQ(running(false), (tickets{1, 2, 3}));
}

TEST_F(running_request, does_not_wait_for_another_lane) {
  send_untimed(lane);
  send(other, behind({{lane, 1}}));
  EXPECT_EQ(running(), tickets());
  retire(lane);
  EXPECT_EQ(running(), tickets{2});
}

TEST_F(running_request, no_longer_waits_once_the_request_that_it_waited_for_is_retired) {
  send_untimed(third);  // the oldest request, which always counts as running
  send_untimed(lane);
  send_untimed(lane);
  send(other, behind({{lane, 2}}));
  EXPECT_EQ(running(), tickets());
  retire(lane);
  EXPECT_EQ(running(), tickets{4}) << "3 is older, but 4 does not wait for it";
}

TEST_F(running_request, does_not_wait_for_any_of_several_lanes) {
  send_untimed(lane);
  send_untimed(third);
  send(other, behind({{third, 2}, {lane, 1}}));
  retire(third);
  EXPECT_EQ(running(), tickets());
  retire(lane);
  EXPECT_EQ(running(), tickets{3});
}

TEST_F(running_request, includes_all_requests_that_share_the_running_call) {
  send_untimed(third);
  send_untimed(lane);
  send(lane);
  for (int i = 0; i < 2; ++i) send(lane, with_the_one_before());
  send(lane);
  send(lane, with_the_one_before());
  EXPECT_EQ(running(), tickets());
  retire(lane);
  EXPECT_EQ(running(), (tickets{3, 4, 5}));
  for (int i = 0; i < 3; ++i) retire(lane);
  EXPECT_EQ(running(), (tickets{6, 7}));
}

// Otherwise its time would not be limited, and the requests that wait for it would be blamed.
TEST_F(running_request, is_found_even_if_the_log_of_its_lane_was_overwritten) {
  send(lane);
  send(lane);
  send(other, behind({{lane, 1}}));
  channel_.view().log(lane, 1).store(protocol::log_word(4711, 12));
  EXPECT_EQ(running(), tickets{1});
  channel_.view().log(lane, 1).store(0);
  EXPECT_EQ(running(), tickets{1});
}

TEST_F(running_request, includes_the_oldest_unanswered_request) {
  for (int i = 0; i < 3; ++i) send(lane);
  const auto oldest = [&] { return running_requests(channel_.view(), ledger_, retired_, true).oldest(); };
  EXPECT_EQ(oldest(), 1u);
  ledger_[1].answered = true;
  EXPECT_EQ(oldest(), 2u);
  for (std::uint32_t i = 2; i <= 3; ++i) ledger_[i].in_flight = false;
  EXPECT_EQ(oldest(), 0u);
}

TEST_F(running_request, has_a_gate_that_works_with_large_tickets) {
  constexpr std::uint64_t large = (std::uint64_t{1} << 44) + 3;  // more bits than a log word can hold
  EXPECT_EQ(behind({{lane, large - 5}}).youngest(large), large - 5);
  EXPECT_EQ(behind({{lane, large - 5}, {other, large - 2}}).youngest(large), large - 2);
  EXPECT_EQ(behind({{lane, large - 2}, {other, large - 5}}).youngest(large), large - 2);
}

}  // namespace
}  // namespace troupe
