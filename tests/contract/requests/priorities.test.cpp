// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of which of several requests runs first.
#include <troupe/memory/requests.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

// Returns options with which no request runs on the pump, where it would delay the requests behind it.
device_options on_lanes(device_options o = {}) {
  o.inline_bytes = 0;
  return with_test_engines(std::move(o));
}

// Waits for an answer, and fails after 20 s instead of hanging.
template <class T>
result<T> soon(pending<T> p) {
  if (auto got = p.get_for(20s)) return *got;
  return error(reaction::fatal, "test", "no answer in 20 s");
}

TEST(priorities, let_high_requests_overtake_waiting_ones_of_the_same_library) {
  for (const auto lanes : {lane_policy::per_actor, lane_policy::single}) {
    runtime rt;
    const device gpu = rt.open_device(on_lanes({.lanes = lanes}));
    blockade first(gpu);
    ASSERT_TRUE(first.entered());
    const pending<std::uint64_t> waits = gpu.ask(testing_actor::count{});
    EXPECT_OK(soon(gpu.ask(testing_actor::count{}, {.priority = priority::high})));
    EXPECT_FALSE(waits.ready()) << "the request had to wait for unfinished work";
    first.lift();
    EXPECT_OK(first.answer().get());
  }
}

TEST(priorities, let_no_request_wait_behind_a_low_one) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes({.lanes = lane_policy::single}));
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  pending<void> low = gpu.ask(hold{.gate = gate}, {.priority = priority::low});
  while (std::atomic_ref(gate.data()[entered]).load() == 0) std::this_thread::yield();
  EXPECT_OK(soon(gpu.ask(testing_actor::count{})));
  EXPECT_OK(soon(gpu.ask(testing_actor::count{}, {.priority = priority::high})));
  std::atomic_ref(gate.data()[opened]).store(1);
  EXPECT_OK(low.get());
}

TEST(priorities, keep_the_order_that_data_requires) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes());
  constexpr extent n = 1000;
  const auto x = gpu.alloc<float>(n, {.zeroed = true});
  const priority all[] = {priority::normal, priority::high, priority::low};
  for (int i = 0; i < 300; ++i) gpu.tell(increment{.x = x, .n = n}, {.priority = all[(i * 7 + i / 5) % 3]});
  EXPECT_EQ(gpu.download(x, {.priority = priority::high}).get().value(), std::vector<float>(1000, 300.f));
}

TEST(priorities, apply_to_copies) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes());
  const auto x = gpu.alloc<float>(100);
  ASSERT_OK(gpu.upload(x, counting(100), {.priority = priority::low}).get());
  ASSERT_OK(gpu.download(x, {.priority = priority::high}).get());
  for (const lane_statistics& l : gpu.statistics().lanes)
    EXPECT_EQ(l.completed, l.purpose == lane_purpose::low || l.purpose == lane_purpose::high ? 1u : 0u)
        << static_cast<int>(l.purpose);
}

TEST(priorities, leave_a_helper_thread_free_of_slow_work_of_low_priority) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes({.helpers = 2}));
  const auto low_gates = gpu.alloc_host<std::uint32_t>(4, {.zeroed = true}),
             gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  const auto out = gpu.alloc<float>(3);
  std::vector<pending<void>> low;
  for (int i = 0; i < 2; ++i)
    low.push_back(gpu.ask(hold_slowly{.gate = low_gates.slice(2 * i, 2), .result = out.slice(i, 1)},
                          {.priority = priority::low}));
  std::atomic_ref(gate.data()[opened]).store(1);
  EXPECT_OK(soon(gpu.ask(hold_slowly{.gate = gate, .result = out.slice(2, 1)})));
  for (std::size_t i = 0; i < 2; ++i) std::atomic_ref(low_gates.data()[2 * i + opened]).store(1);
  for (auto& p : low) EXPECT_OK(p.get());
}

TEST(priorities, delay_low_requests_but_not_indefinitely) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes());
  blockade busy(gpu);
  ASSERT_TRUE(busy.entered());
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  std::atomic_ref(gate.data()[opened]).store(1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_OK(soon(gpu.ask(hold{.gate = gate}, {.priority = priority::low})));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
  busy.lift();
  EXPECT_OK(busy.answer().get());
}

TEST(priorities, separate_requests_into_different_calls) {
  runtime rt;
  const device gpu = rt.open_device(on_lanes());
  blockade first(gpu);
  ASSERT_TRUE(first.entered());
  const auto x = gpu.alloc<float>(4, {.zeroed = true});
  std::vector<pending<std::uint32_t>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(gpu.ask(together{.x = x.slice(i, 1), .kind = 1, .by = 1.f},
                          {.priority = i % 2 == 0 ? priority::normal : priority::high}));
  first.lift();
  for (auto& p : all) {
    const auto shared = p.get();
    ASSERT_OK(shared);
    EXPECT_LE(*shared, 2u);
  }
}

}  // namespace
}  // namespace troupe::whole
