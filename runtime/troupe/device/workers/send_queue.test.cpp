// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/device/testing/few_descriptors.hpp>
#include <troupe/device/workers/send_queue.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

class a_send_queue : public testing::Test {
 protected:
  using outcome = control_socket::outcome;
  static std::vector<std::byte> packet(std::uint32_t number, std::size_t bytes = sizeof number) {
    std::vector<std::byte> out(bytes);
    std::memcpy(out.data(), &number, sizeof number);
    return out;
  }
  struct heard {
    control_socket::outcome outcome;
    std::uint32_t number;
    std::size_t descriptors;
  };
  heard hear() {
    std::array<std::byte, 4096> room{};
    const auto got = ends.theirs.receive(room, 1, now_ns() + 20'000'000'000);
    if (!got) {
      ADD_FAILURE() << got.error().to_string();
      return {outcome::closed, 0, 0};
    }
    heard h{got->outcome, 0, got->fds.size()};
    std::memcpy(&h.number, room.data(), sizeof h.number);
    return h;
  }
  // Fills the socket, which nobody reads. Returns the number of messages.
  std::uint32_t fill() {
    std::uint32_t n = 0;
    while (queue.post_at_once(packet(0))) ++n;
    return n;
  }

  control_pair ends = control_socket::make_pair().value();
  send_queue queue{ends.ours};
  std::shared_ptr<const memory_file> memory =
      std::make_shared<const memory_file>(memory_file::create("send_queue", 4096).value());
};

TEST_F(a_send_queue, delivers_messages_in_order_that_did_not_fit_before_the_worker_read) {
  constexpr std::uint32_t all = 3000;
  for (std::uint32_t i = 0; i < all; ++i) ASSERT_TRUE(queue.post(packet(i)));
  ASSERT_TRUE(queue.deliver());
  for (std::uint32_t i = 0; i < all; ++i) ASSERT_EQ(hear().number, i);
}

// Also checks that queued messages need no descriptors of their own.
TEST_F(a_send_queue, delivers_more_descriptors_than_may_be_in_flight_at_once) {
  constexpr std::uint32_t all = 600;
  const testing_device::few_descriptors now(200);
  for (std::uint32_t i = 0; i < all; ++i) {
    const auto posted = queue.post(packet(i), memory);
    ASSERT_TRUE(posted) << i << ": " << posted.error().to_string();
  }
  ASSERT_TRUE(queue.deliver());
  std::this_thread::sleep_for(20ms);  // the queue reaches the limit of descriptors in flight meanwhile
  for (std::uint32_t i = 0; i < all; ++i) {
    const heard h = hear();
    ASSERT_EQ(h.number, i);
    ASSERT_EQ(h.descriptors, 1u) << i;
  }
}

// The limit of a user counts the descriptors of all its processes.
TEST_F(a_send_queue, delivers_descriptors_once_other_processes_have_fewer_in_flight) {
  ASSERT_TRUE(queue.deliver());
  for (const std::uint32_t first : {0, 10}) {
    const testing_device::few_descriptors now(200);
    auto others = control_socket::make_pair().value();
    const std::vector<int> many(control_socket::most_fds, memory->fd());
    const std::int64_t until = now_ns() + 20'000'000'000;  // other programs may have as many in flight now
    while (!others.ours.send(std::as_bytes(std::span("x")), many)) {
      ASSERT_LT(now_ns(), until);
      std::this_thread::sleep_for(1ms);
    }
    for (std::uint32_t i = first; i < first + 10; ++i) {
      const auto posted = queue.post(packet(i), memory);
      ASSERT_TRUE(posted) << posted.error().to_string();
    }
    std::byte none[4];
    EXPECT_EQ(ends.theirs.receive(none, 1, now_ns() + 5'000'000).value().outcome, outcome::timed_out);
    others = control_socket::make_pair().value();
    for (std::uint32_t i = first; i < first + 10; ++i) {
      const heard h = hear();
      EXPECT_EQ(h.number, i);
      EXPECT_EQ(h.descriptors, 1u);
    }
  }
}

TEST_F(a_send_queue, can_end_while_too_many_descriptors_are_in_flight) {
  const testing_device::few_descriptors now(200);
  for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(queue.post(packet(i), memory));
  ASSERT_TRUE(queue.deliver());
  std::this_thread::sleep_for(5ms);
  queue.end();
}

TEST_F(a_send_queue, never_waits_for_a_slow_worker_and_fails_after_a_second) {
  ASSERT_TRUE(queue.deliver());
  const std::uint32_t room = fill();
  ASSERT_GT(room, 0u);
  const std::int64_t begun = now_ns();
  std::uint32_t queued = 0;
  while (queue.post(packet(1))) ++queued, std::this_thread::sleep_for(1ms);
  EXPECT_GE(now_ns() - begun, 1'000'000'000);
  EXPECT_GT(queued, 10u) << "none of them waited for long";
  const auto late = queue.post(packet(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reaction(), reaction::retry_later);
  for (std::uint32_t i = 0; i < room + queued; ++i) ASSERT_EQ(hear().number, i < room ? 0u : 1u);
  EXPECT_TRUE(queue.post(packet(2))) << "it reads again";
  EXPECT_EQ(hear().number, 2u);
}

TEST_F(a_send_queue, shuts_the_socket_down_if_a_message_can_never_be_delivered) {
  const std::uint32_t room = fill();
  for (const std::size_t bytes : {4, 1 << 22}) ASSERT_TRUE(queue.post(packet(1, bytes))) << "it is queued";
  ASSERT_TRUE(queue.deliver());
  for (std::uint32_t i = 0; i < room + 1; ++i) EXPECT_EQ(hear().outcome, outcome::message);
  EXPECT_EQ(hear().outcome, outcome::closed);
}

}  // namespace
}  // namespace troupe
