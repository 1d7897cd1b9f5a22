// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/device/testing/descriptor_limit.hpp>
#include <troupe/device/workers/allocation_client.hpp>

namespace troupe {
namespace {

class an_allocation_client : public testing::Test {
 protected:
  // Puts the worker's answer into the socket before the question is asked.
  void answer(std::uint64_t number) {
    const protocol::made_memory made{.made = 1, .reaction = 0, .address = 0, .number = number};
    const int fd = memory_.get();
    ASSERT_TRUE(ends_.theirs.send(std::as_bytes(std::span(&made, 1)), std::span(&fd, 1)));
  }

  bool answer_managed(std::uint64_t number) {
    const protocol::made_memory made{.made = 1, .reaction = 0, .address = 4096 * number, .number = number};
    return static_cast<bool>(ends_.theirs.send(std::as_bytes(std::span(&made, 1))));
  }
  static std::int64_t in(std::int64_t milliseconds) { return now_ns() + milliseconds * 1'000'000; }
  // Asks a question that times out.
  void ask_in_vain() { EXPECT_EQ(client_.make_managed(4096, in(1)).error().reaction(), reaction::retry_later); }

  control_pair ends_ = control_socket::make_pair().value();
  control_socket filler_ = control_socket::adopt(file_descriptor(::fcntl(ends_.ours.fd(), F_DUPFD_CLOEXEC, 3))).value();
  file_descriptor memory_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  allocation_client client_{std::move(ends_.ours)};
};

// Returns the number of the next descriptor that would be opened.
rlim_t next_descriptor() {
  return static_cast<rlim_t>(file_descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get());
}

TEST_F(an_allocation_client, continues_after_an_answer_for_which_no_descriptor_was_free) {
  answer(1);
  {
    const error known(
        error::details{.reaction = reaction::fatal, .text = "UBSan opens a descriptor for a type it sees first"});
  }
  {
    const testing_device::descriptor_limit full(next_descriptor());
    const auto lost = client_.make(4096, in(5'000));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().reaction(), reaction::retry_later) << lost.error().to_string();
    EXPECT_NE(lost.error().text().find("ulimit -n"), std::string::npos) << lost.error().text();
    EXPECT_EQ(lost.error().code(), 0) << "the worker did answer, so this is no time-out";
  }
  EXPECT_FALSE(client_.is_gone());
  answer(2);
  const auto made = client_.make(4096, in(5'000));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_TRUE(*made);
}

TEST_F(an_allocation_client, never_asks_a_worker_again_that_sent_an_invalid_answer) {
  std::vector<std::string> told;
  client_.when_unfit([&](const std::string& why) { told.push_back(why); });
  ASSERT_TRUE(ends_.theirs.send(std::as_bytes(std::span("short"))));
  const auto made = client_.make(4096, in(5'000));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reaction(), reaction::context_lost) << made.error().to_string();
  EXPECT_NE(made.error().text().find("invalid answer"), std::string::npos) << made.error().text();
  EXPECT_TRUE(client_.is_gone());
  EXPECT_FALSE(client_.make(4096, in(5'000)));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("invalid answer"), std::string::npos) << told[0];
}

TEST_F(an_allocation_client, refuses_a_socket_instead_of_memory) {
  auto other = control_socket::make_pair().value();
  memory_ = file_descriptor(::fcntl(other.ours.fd(), F_DUPFD_CLOEXEC, 3));
  answer(1);
  const auto made = client_.make(4096, in(5'000));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find("invalid answer"), std::string::npos) << made.error().text();
}

TEST_F(an_allocation_client, reports_no_violation_if_the_worker_ends) {
  std::vector<std::string> told;
  client_.when_unfit([&](const std::string& why) { told.push_back(why); });
  ends_.theirs = {};
  EXPECT_EQ(client_.make(4096, in(5'000)).error().reaction(), reaction::context_lost);
  EXPECT_EQ(told, std::vector<std::string>{""}) << "that its socket is closed, and nothing that it sent";
  EXPECT_TRUE(client_.is_gone());
}

TEST_F(an_allocation_client, fails_with_a_time_out_if_the_worker_does_not_answer) {
  const auto late = client_.make(4096, in(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reaction(), reaction::retry_later);
  EXPECT_EQ(late.error().code(), ETIMEDOUT);
  EXPECT_FALSE(client_.is_gone());
}

TEST_F(an_allocation_client, releases_memory_that_arrives_too_late_and_takes_the_next_answer) {
  ask_in_vain();
  ASSERT_TRUE(answer_managed(1));
  ASSERT_TRUE(answer_managed(2));
  EXPECT_EQ(client_.make_managed(4096, in(20'000)).value(), 2 * 4096u);
  protocol::wanted_memory told{};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(ends_.theirs.receive(std::as_writable_bytes(std::span(&told, 1)), 0, in(20'000)));
  EXPECT_EQ(told.what, protocol::wanted::release);
  EXPECT_EQ(told.address, 4096u);
}

TEST_F(an_allocation_client, waits_for_room_in_the_socket_until_the_worker_reads) {
  const std::byte old[4]{};
  while (filler_.send(old, {}, 0)) {
  }
  EXPECT_EQ(client_.make_managed(4096, in(20)).error().code(), ETIMEDOUT) << "the worker reads nothing";
  std::thread worker([this] {
    std::array<std::byte, 4096> room{};
    protocol::wanted_memory asked{};
    while (asked.number == 0) {
      const auto got = ends_.theirs.receive(room, 0, in(20'000));
      if (!got || got->outcome != control_socket::outcome::message) return;
      if (got->bytes == sizeof asked) std::memcpy(&asked, room.data(), sizeof asked);
    }
    answer_managed(asked.number);
  });
  const auto made = client_.make_managed(4096, in(20'000));
  worker.join();
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(*made, 2 * 4096u);
}

// Otherwise the worker could keep the client reading forever.
TEST_F(an_allocation_client, never_asks_a_worker_again_that_answered_a_question_twice) {
  ask_in_vain();
  std::thread answers([this] {
    while (answer_managed(1)) {
    }
  });
  const auto made = client_.make_managed(4096, in(2'000));
  ends_.theirs.shut_down();
  answers.join();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reaction(), reaction::context_lost) << made.error().to_string();
  EXPECT_TRUE(client_.is_gone());
}

}  // namespace
}  // namespace troupe
