// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// One deadline and one stop token for all requests of a client.
#include <stop_token>
#include <troupe/device/keep_content.hpp>
#include <troupe/device/peers.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class scopes : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam(), .mailbox_capacity = 64}));
  buffer<float> x = gpu.alloc<float>(10), y = gpu.alloc<float>(10);
  std::stop_source client;

  void SetUp() override {
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    EXPECT_OK(gpu.fill(y, 0.0f).get());
  }
  device of_client(time_span timeout = time_span::for_ever()) {
    return gpu.within({.timeout = timeout, .stop = client.get_token()});
  }
};
INSTANTIATE_TEST_SUITE_P(each, scopes, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(scopes, share_their_device) {
  const device mine = of_client(10s);
  EXPECT_EQ(mine, gpu);
  EXPECT_TRUE(mine.tell(increment{.x = x, .n = 10}));
  EXPECT_EQ(gpu.download(x).get().value()[0], 1.0f);
  EXPECT_EQ(mine.download(x).get().value()[0], 1.0f);
}

TEST_P(scopes, cancel_unstarted_requests_and_tells_when_stopped) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const device mine = of_client();
  ASSERT_TRUE(mine.tell(increment{.x = x, .n = 10}));
  auto asked = mine.ask(increment{.x = x, .n = 10});
  auto data = mine.download(x);
  auto synced = mine.sync();
  ASSERT_TRUE(gpu.tell(increment{.x = y, .n = 10}));
  client.request_stop();
  for (const error& why : {error_of(asked.get()), error_of(data.get()), error_of(synced.get())})
    EXPECT_TRUE(is_error(why, reaction::retry_later, {"stopped", "scope_options::stop"}));
  EXPECT_FALSE(x.readable()) << "the client's tell should have written it";
  b.lift();
  EXPECT_EQ(gpu.download(y).get().value()[0], 1.0f) << "this request is not the client's";
}

TEST_P(scopes, refuse_requests_once_stopped) {
  const device mine = of_client();
  const device copy = mine;
  client.request_stop();
  EXPECT_TRUE(is_error(error_of(copy.ping()), reaction::retry_later, {"stopped"}));
  EXPECT_FALSE(mine.tell(increment{.x = x, .n = 10}));
  EXPECT_OK(keep_content(gpu, x));
  EXPECT_OK(gpu.ping().get());
  EXPECT_TRUE(is_error(error_of(of_client().ping()), reaction::retry_later, {"stopped"})) << "stopped from the start";
}

TEST_P(scopes, apply_to_requests_that_outlive_their_handle) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto asked = of_client().ask(increment{.x = x, .n = 10});
  client.request_stop();
  EXPECT_TRUE(is_error(error_of(asked.get()), reaction::retry_later, {"stopped"}));
}

TEST_P(scopes, apply_one_deadline_to_every_step_of_a_chain) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const device mine = of_client(30ms);
  ASSERT_TRUE(mine.tell(increment{.x = x, .n = 10}));
  auto asked = mine.ask(increment{.x = x, .n = 10}, {.timeout = 1h});
  auto data = mine.download(x);
  EXPECT_TRUE(is_error(error_of(asked.get()), reaction::retry_later, {"time-out"}));
  EXPECT_TRUE(is_error(error_of(data.get()), reaction::retry_later, {"time-out"}));
  EXPECT_TRUE(is_error(error_of(mine.ping()), reaction::retry_later, {"scope_options::timeout"}));
  EXPECT_FALSE(x.readable());
  b.lift();
  EXPECT_OK(gpu.fill(x, 0.f).get());
}

TEST_P(scopes, keep_the_shorter_time_out_of_a_call) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto asked = of_client(1h).ask(increment{.x = x, .n = 10}, {.timeout = 10ms});
  EXPECT_TRUE(is_error(error_of(asked.get()), reaction::retry_later, {"time-out"}));
}

TEST_P(scopes, do_not_stop_started_requests) {
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  const device mine = of_client();
  auto running = mine.ask(hold{.gate = gate});
  while (std::atomic_ref(gate[entered]).load() == 0 && !running.ready()) std::this_thread::yield();
  client.request_stop();
  EXPECT_FALSE(running.get_for(20ms).has_value());
  std::atomic_ref(gate[opened]).store(1);
  EXPECT_OK(running.get());
}

TEST_P(scopes, end_with_their_outer_scope_but_not_vice_versa) {
  std::stop_source part;
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const device outer = of_client();
  const device inner = outer.within({.timeout = 1h, .stop = part.get_token()}), other = outer.within({});
  auto of_outer = outer.ask(increment{.x = x, .n = 10});
  auto of_inner = inner.ask(increment{.x = y, .n = 10});
  auto of_other = other.ask(nap{.microseconds = 0});
  part.request_stop();
  EXPECT_TRUE(is_error(error_of(of_inner.get()), reaction::retry_later, {"stopped"}));
  EXPECT_FALSE(of_outer.get_for(10ms).has_value());
  client.request_stop();
  EXPECT_TRUE(is_error(error_of(of_outer.get()), reaction::retry_later, {"stopped"}));
  EXPECT_TRUE(is_error(error_of(of_other.get()), reaction::retry_later, {"stopped"}));
  EXPECT_TRUE(is_error(error_of(gpu.within({.timeout = 10ms}).within({.timeout = 1h}).ask(nap{.microseconds = 0})),
                       reaction::retry_later, {"time-out"}));
}

TEST_P(scopes, end_the_wait_for_room) {
  std::vector<pending<void>> queued;
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  for (int i = 0; i < 63; ++i) queued.push_back(gpu.ask(nap{.microseconds = 0}));
  const device mine = of_client();
  auto room = mine.room(), late = gpu.within({.timeout = 10ms}).room();
  EXPECT_TRUE(is_error(error_of(late.get()), reaction::retry_later, {"room", "scope_options::timeout"}));
  EXPECT_TRUE(
      is_error(error_of(gpu.within({.timeout = 10ms}).ping()), reaction::retry_later, {"scope_options::timeout"}));
  std::thread caller([&] { EXPECT_TRUE(is_error(error_of(mine.ping()), reaction::retry_later, {"stopped"})); });
  std::this_thread::sleep_for(5ms);
  client.request_stop();
  caller.join();
  EXPECT_TRUE(is_error(error_of(room.get()), reaction::retry_later, {"stopped"}));
}

TEST_P(scopes, cover_chunked_transfers_and_copies_between_devices) {
  const device there = rt.open_device(with_test_engines({.isolation = GetParam()}));
  const auto large = gpu.alloc<float>(3'000'000), from = there.alloc<float>(3'000'000);
  EXPECT_OK(there.fill(from, 1.f).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const device mine = of_client();
  auto down = mine.download(large);
  auto across = copy_between(mine, large, there, from);
  client.request_stop();
  EXPECT_TRUE(is_error(error_of(down.get()), reaction::retry_later, {"stopped"}));
  EXPECT_TRUE(is_error(error_of(across.get()), reaction::retry_later, {"stopped"}));
  EXPECT_TRUE(
      is_error(error_of(mine.upload(large, std::vector<float>(3'000'000))), reaction::retry_later, {"stopped"}));
  b.lift();
  EXPECT_OK(copy_between(gpu, large, there, from).get());
}

TEST_P(scopes, end_the_wait_for_room_in_either_mailbox_of_a_copy_between_devices) {
  const device there = rt.open_device(with_test_engines({.isolation = GetParam(), .mailbox_capacity = 2}));
  const auto here_x = gpu.alloc<float>(10), there_x = there.alloc<float>(10, {.zeroed = true});
  EXPECT_OK(gpu.fill(here_x, 1.f).get());
  blockade b(there);
  ASSERT_TRUE(b.entered());
  auto second = there.ask(nap{.microseconds = 0});
  for (const bool into_full : {false, true}) {
    SCOPED_TRACE(into_full);
    std::stop_source stop;
    const scope_options mine{.stop = stop.get_token()};
    std::thread caller([&] {
      const auto copied = into_full ? error_of(copy_between(there.within(mine), there_x, gpu, here_x))
                                    : error_of(copy_between(gpu.within(mine), here_x, there, there_x));
      EXPECT_TRUE(is_error(copied, reaction::retry_later, {"stopped"}));
    });
    std::this_thread::sleep_for(5ms);
    stop.request_stop();
    caller.join();
  }
  b.lift();
  EXPECT_OK(second.get());
}

// Stops at any moment: every request is answered once, and has run either completely or not at all.
TEST_P(scopes, answer_every_request_if_stopped_while_it_is_sent) {
  for (int round = 0; round < 100; ++round) {
    std::stop_source stop;
    tally answers;
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    std::thread sender([&, mine = gpu.within({.stop = stop.get_token()})] {
      for (int i = 0; i < 200; ++i) answers.watch(mine.ask(nap{.microseconds = 0}));
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 7));
    stop.request_stop();
    sender.join();
    answers.await_all();
    EXPECT_EQ(answers.fine() + answers.failed(reaction::retry_later), 200);
  }
  EXPECT_OK(gpu.sync().get());  // until the worker has passed it, a stopped request keeps its slot
  EXPECT_EQ(gpu.statistics().depth, 0u);
}

}  // namespace
}  // namespace troupe::whole
