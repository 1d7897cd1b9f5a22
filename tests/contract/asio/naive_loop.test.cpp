// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of sending requests from the only thread of an Asio loop.
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <troupe/async_asio/adapter.hpp>

#include "../harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

constexpr int requests = 100'000;

class asio_loop : public testing::Test {
 protected:
  asio::io_context context;  // declared first, so that it outlives the threads that post to it
  runtime rt;
  device gpu = rt.open_device(with_test_engines());
  buffer<float> x = gpu.alloc<float>(1);

  void SetUp() override { ASSERT_OK(gpu.fill(x, 0.0f).get()); }
};

asio::awaitable<void> tell_all(device gpu, buffer<float> x, std::vector<float>& out) {
  for (int i = 0; i < requests; ++i) EXPECT_TRUE(gpu.tell(increment{.x = x, .n = 1}));
  auto data = co_await async_get(gpu.download(x), asio::use_awaitable);
  if (data) out = *data;
}

TEST_F(asio_loop, sends_any_number_of_requests) {
  std::vector<float> out;
  asio::co_spawn(context, tell_all(gpu, x, out), asio::detached);
  context.run();
  EXPECT_EQ(out, std::vector<float>{requests});
}

asio::awaitable<void> tell_politely(device gpu, buffer<float> x, bool& over) {
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_OK(co_await async_get(gpu.room(), asio::use_awaitable));
    EXPECT_TRUE(gpu.tell(increment{.x = x, .n = 1}, {.waits_for_room = false}));
  }
  EXPECT_OK(co_await async_get(gpu.sync(), asio::use_awaitable));
  over = true;
}

TEST_F(asio_loop, does_other_work_while_the_mailbox_is_full) {
  blockade wall(gpu);
  ASSERT_TRUE(wall.entered());
  bool over = false;
  asio::co_spawn(context, tell_politely(gpu, x, over), asio::detached);
  // The loop runs although the mailbox is full: its timer makes room.
  asio::steady_timer timer(context, 20ms);
  timer.async_wait([&](const asio::error_code&) { wall.lift(); });
  context.run();
  EXPECT_TRUE(over);
  EXPECT_EQ(gpu.download(x).get().value()[0], 20'000.0f);
}

}  // namespace
}  // namespace troupe::whole
