// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/device/testing/descriptor_limit.hpp>
#include <troupe/device/workers/send_queue.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

// Limits the descriptors in flight for this thread and those that it starts, by removing the capabilities that exempt
// it from the limit.
class few_descriptors {
 public:
  explicit few_descriptors(rlim_t most) : limit_(most) {
    ::syscall(SYS_capget, &who_, capabilities_);
    __user_cap_data_struct fewer[2]{capabilities_[0], capabilities_[1]};
    fewer[0].effective &= ~(1u << CAP_SYS_RESOURCE | 1u << CAP_SYS_ADMIN);
    ::syscall(SYS_capset, &who_, fewer);
  }
  ~few_descriptors() { ::syscall(SYS_capset, &who_, capabilities_); }
  few_descriptors(const few_descriptors&) = delete;

 private:
  testing_device::descriptor_limit limit_;
  __user_cap_header_struct who_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct capabilities_[2]{};
};

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
  // Fills the socket, which is not read. Returns the number of messages.
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

TEST_F(a_send_queue, delivers_messages_in_order_that_found_no_room_before_the_worker_read) {
  constexpr std::uint32_t all = 3000;
  for (std::uint32_t i = 0; i < all; ++i) ASSERT_TRUE(queue.post(packet(i)));
  ASSERT_TRUE(queue.deliver());
  for (std::uint32_t i = 0; i < all; ++i) ASSERT_EQ(hear().number, i);
}

// Also checks that queued messages need no descriptors of their own.
TEST_F(a_send_queue, delivers_more_descriptors_than_may_be_in_flight_at_once) {
  constexpr std::uint32_t all = 600;
  const few_descriptors now(200);
  for (std::uint32_t i = 0; i < all; ++i) {
    const auto posted = queue.post(packet(i), memory);
    ASSERT_TRUE(posted) << i << ": " << posted.error().to_string();
  }
  ASSERT_TRUE(queue.deliver());
  std::this_thread::sleep_for(20ms);  // meanwhile the queue reaches the limit of descriptors in flight
  for (std::uint32_t i = 0; i < all; ++i) {
    const heard h = hear();
    ASSERT_EQ(h.number, i);
    ASSERT_EQ(h.descriptors, 1u) << i;
  }
}

TEST_F(a_send_queue, can_end_while_it_waits_for_room_for_descriptors) {
  const few_descriptors now(200);
  for (std::uint32_t i = 0; i < 300; ++i) ASSERT_TRUE(queue.post(packet(i), memory));
  ASSERT_TRUE(queue.deliver());
  std::this_thread::sleep_for(5ms);
  queue.end();
}

TEST_F(a_send_queue, waits_for_a_slow_worker_only_until_the_deadline) {
  ASSERT_TRUE(queue.deliver());
  ASSERT_GT(fill(), 0u);
  const std::int64_t begun = now_ns();
  const auto at_once = queue.post(packet(1));
  ASSERT_FALSE(at_once);
  EXPECT_EQ(at_once.error().reaction(), reaction::retry_later);
  EXPECT_LT(now_ns() - begun, 500'000'000);
  EXPECT_FALSE(queue.post(packet(1), {}, now_ns() + 30'000'000));
  EXPECT_GE(now_ns() - begun, 30'000'000);
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
