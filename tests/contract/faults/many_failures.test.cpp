// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests with as many requests as a mailbox can hold, all of which fail at once: the time must grow linearly with their
// number, not quadratically.
#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

constexpr int most = 65536;

class full_mailbox : public testing::Test {
 protected:
  device open() {
    device_options o = with_test_engines({.mailbox_capacity = most});
    o.restarts = 3;
    return rt.open_device(o);
  }
  // The limit is generous: it takes less than a second. When each failure examined every other request, it took a
  // minute.
  template <class Happen>
  void all_are_answered_soon_after(Happen&& happens) {
    const auto begin = std::chrono::steady_clock::now();
    happens();
    answers.await_all();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(answers.answered(), answers.expected());
    EXPECT_LT(took.count(), 15.0) << "seconds";
  }
  runtime rt;
  tally answers;
};

TEST_F(full_mailbox, is_answered_in_linear_time_when_a_recovery_makes_it_stale) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  ASSERT_OK(gpu.upload(x, counting(10)).get());
  ASSERT_OK(gpu.upload(y, counting(10)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  for (int i = 1; i < most; ++i) answers.watch(i % 2 == 0 ? gpu.ask(increment{.x = x, .n = 10}) : gpu.copy(y, x));
  all_are_answered_soon_after([&] { kill_worker(gpu); });
  EXPECT_EQ(answers.failed(reaction::context_lost), most - 1);
}

TEST_F(full_mailbox, is_answered_in_linear_time_when_it_reads_from_a_lost_request) {
  const device gpu = open();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const buffer<std::uint32_t> m(b.gate().memory());
  const auto x = gpu.alloc<std::uint32_t>(2);
  for (int i = 1; i < most; ++i) answers.watch(gpu.copy(x, m));
  all_are_answered_soon_after([&] { kill_worker(gpu); });
  EXPECT_EQ(answers.failed(reaction::context_lost), most - 1);
}

TEST_F(full_mailbox, is_answered_in_linear_time_when_its_first_request_fails) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10);
  ASSERT_OK(gpu.upload(x, counting(10)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto failing = gpu.ask(increment{.x = x, .n = 10});
  for (int i = 2; i < most; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 10}));
  all_are_answered_soon_after([&] {
    failing.cancel();
    b.lift();
  });
  EXPECT_EQ(answers.fine(), 0);
}

TEST_F(full_mailbox, is_answered_in_linear_time_when_the_device_closes_now) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(10);
  ASSERT_OK(gpu.upload(x, counting(10)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  for (int i = 1; i < most; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 10}));
  pending<void> closed;
  all_are_answered_soon_after([&] { closed = gpu.close_now(); });
  b.lift();
  EXPECT_EQ(answers.failed(reaction::stopped), most - 1);
  (void)closed.get();
}

}  // namespace
}  // namespace troupe::whole
