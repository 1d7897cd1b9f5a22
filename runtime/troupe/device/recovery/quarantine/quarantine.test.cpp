// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <array>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/device/recovery/quarantine/quarantine.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;
using names = std::vector<std::string>;

constexpr std::uint64_t memory_begin = 0x10000, memory_end = 0x20000, blob_address = 0x15000;
constexpr std::int64_t second = 1'000'000'000;

class a_quarantine : public testing::Test {
 protected:
  std::uint64_t kind_of(std::uint64_t opcode, std::array<std::uint64_t, 3> payload, std::array<std::uint64_t, 2> blob,
                        std::uint64_t blob_at = blob_address) const {
    content_hash h(q.key());
    q.add_description({.opcode = opcode,
                       .payload = std::as_bytes(std::span(payload)),
                       .blob = std::as_bytes(std::span(blob)),
                       .blob_address = blob_at,
                       .memory_begin = memory_begin,
                       .memory_end = memory_end},
                      h);
    return h.value();
  }
  bool dies(request_identity of, std::int64_t at, quarantine& in) {
    in.watch();
    return in.blame(of, "kind " + std::to_string(of.kind), "cause " + std::to_string(at / second), at).has_value();
  }
  bool dies(request_identity of, std::int64_t at) { return dies(of, at, q); }
  bool refuses(request_identity what, std::int64_t at) const { return q.refusal_of(what, at).has_value(); }

  quarantine q{{.after = 2, .window = 60s}};
};

TEST_F(a_quarantine, refuses_a_request_with_the_same_data_after_two_deaths) {
  EXPECT_FALSE(q.watches());
  EXPECT_FALSE(dies({7, 1}, 0));
  EXPECT_TRUE(q.watches());
  EXPECT_FALSE(refuses({7, 1}, 0));
  EXPECT_TRUE(dies({7, 1}, second));
  EXPECT_TRUE(refuses({7, 1}, 2 * second));
  EXPECT_FALSE(refuses({8, 1}, 2 * second)) << "another kind";
  EXPECT_EQ(q.size(2 * second), 1u);
}

TEST_F(a_quarantine, accepts_requests_of_the_kind_with_data_that_killed_no_worker) {
  EXPECT_FALSE(dies({7, 1}, 0));
  EXPECT_TRUE(dies({7, 2}, second));
  EXPECT_FALSE(refuses({7, 3}, second));
  EXPECT_TRUE(refuses({7, 1}, second) && refuses({7, 2}, second));
  EXPECT_TRUE(dies({7, 3}, second)) << "its kind is known to be dangerous";
}

TEST_F(a_quarantine, counts_only_deaths_within_the_window) {
  EXPECT_FALSE(dies({7, 1}, 0));
  EXPECT_FALSE(dies({7, 1}, 60 * second)) << "the first one is too old";
  EXPECT_TRUE(dies({7, 1}, 119 * second));
}

TEST_F(a_quarantine, reports_why_it_refuses_a_request_and_until_when) {
  EXPECT_FALSE(dies({7, 1}, 0));
  EXPECT_TRUE(dies({7, 2}, 10 * second));
  EXPECT_TRUE(dies({7, 1}, 20 * second));
  const auto one = q.refusal_of({7, 1}, 30 * second), two = q.refusal_of({7, 2}, 30 * second);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->deaths, 3u);
  EXPECT_EQ(one->own, 2u);
  EXPECT_EQ(one->last_ns, 20 * second);
  EXPECT_EQ(one->cause, "cause 20");
  EXPECT_EQ(one->ends_ns, 70 * second) << "then one death is left in the window";
  EXPECT_TRUE(refuses({7, 1}, one->ends_ns - 1));
  EXPECT_FALSE(refuses({7, 1}, one->ends_ns));
  EXPECT_EQ(two->own, 1u);
  EXPECT_EQ(two->ends_ns, 70 * second) << "then its own death leaves the window";
}

TEST_F(a_quarantine, ends_when_the_deaths_leave_the_window) {
  dies({7, 1}, 0);
  dies({7, 1}, second);
  dies({8, 1}, 2 * second);
  EXPECT_EQ(q.next_ns(), 60 * second);
  EXPECT_EQ(q.expire(60 * second - 1), names{});
  EXPECT_EQ(q.expire(60 * second), names{"kind 7"});
  EXPECT_EQ(q.size(60 * second), 0u);
  EXPECT_EQ(q.next_ns(), 61 * second);
  EXPECT_EQ(q.expire(61 * second), names{}) << "its end was reported before";
  EXPECT_TRUE(q.watches());
  EXPECT_EQ(q.expire(70 * second), names{});
  EXPECT_FALSE(q.watches()) << "no death is remembered";
  EXPECT_EQ(q.next_ns(), no_deadline);
}

TEST_F(a_quarantine, does_not_report_an_end_if_it_never_began) {
  dies({7, 1}, 0);
  dies({7, 1}, 70 * second);
  EXPECT_EQ(q.expire(200 * second), names{});
}

TEST_F(a_quarantine, lets_one_request_kill_at_most_two_workers_within_a_window) {
  std::vector<std::int64_t> deaths;
  for (std::int64_t now = 0; now < 1000 * second; now += second) {
    q.expire(now);
    if (refuses({7, 1}, now)) continue;
    dies({7, 1}, now);
    deaths.push_back(now);
  }
  ASSERT_GT(deaths.size(), 10u);
  for (std::size_t i = 2; i < deaths.size(); ++i) EXPECT_GE(deaths[i] - deaths[i - 2], 60 * second);
}

TEST_F(a_quarantine, can_be_lifted) {
  dies({7, 1}, 0);
  dies({7, 1}, 0);
  EXPECT_EQ(q.lift(second), names{"kind 7"});
  EXPECT_FALSE(refuses({7, 1}, second) || q.watches());
  EXPECT_FALSE(dies({7, 1}, 2 * second)) << "all deaths are forgotten";
}

TEST_F(a_quarantine, can_be_disabled_and_can_last_forever) {
  quarantine off({.after = 0, .window = 60s}), for_ever({.after = 1, .window = time_span::for_ever()});
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(dies({7, 1}, i, off));
  EXPECT_EQ(off.size(9), 0u);
  EXPECT_TRUE(dies({7, 1}, 0, for_ever));
  EXPECT_EQ(for_ever.refusal_of({7, 1}, INT64_MAX - 1)->ends_ns, no_deadline);
  EXPECT_EQ(for_ever.next_ns(), no_deadline);
}

TEST_F(a_quarantine, recognizes_a_kind_at_any_addresses_of_its_operands) {
  const auto one = kind_of(1, {0x10100, 64, blob_address}, {5, 0x10200});
  EXPECT_EQ(one, kind_of(1, {0x1ff00, 64, blob_address}, {5, 0x10000}));
  EXPECT_EQ(one, kind_of(1, {0x10100, 64, 0x50000}, {5, 0x10200}, 0x50000)) << "the blob's address does not count";
}

TEST_F(a_quarantine, distinguishes_kinds_that_differ_in_more_than_addresses) {
  const auto one = kind_of(1, {0x10100, 64, blob_address}, {5, 6});
  EXPECT_NE(one, kind_of(2, {0x10100, 64, blob_address}, {5, 6}));
  EXPECT_NE(one, kind_of(1, {0x10100, 65, blob_address}, {5, 6}));
  EXPECT_NE(one, kind_of(1, {0x10100, 64, blob_address}, {6, 5}));
  EXPECT_NE(one, kind_of(1, {0x40000, 64, blob_address}, {5, 6})) << "a number, not an address";
  EXPECT_NE(one, kind_of(1, {0x10100, 64, blob_address + 8}, {5, 6}));
}

TEST_F(a_quarantine, remembers_a_limited_number_of_deaths) {
  dies({1, 1}, 0);
  dies({1, 1}, 0);
  for (std::uint64_t s = 2; s < 20'000; ++s) EXPECT_FALSE(dies({s, 0}, second));
  EXPECT_EQ(q.size(second), 0u) << "the oldest deaths are forgotten";
}

TEST_F(a_quarantine, never_recognizes_unknown_data) {
  const std::uint64_t once = q.unknown_data();
  EXPECT_NE(once, q.unknown_data());
}

}  // namespace
}  // namespace troupe
