// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that graphs survive the loss of workers: a handle stays usable, because workers make the graph from its recipe.
#include <tests/contract/kernels/graph_programs.hpp>
#include <troupe/device/sealing.hpp>
#include "with_standbys.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class recovery_graphs : public with_standbys {
 protected:
  recovery_graphs() : with_standbys(10) {}
};
TROUPE_WITH_STANDBYS(recovery_graphs);

TEST_P(recovery_graphs, a_graph_runs_on_every_worker) {
  const device gpu = open({.salvage = salvage::untouched});
  const graph_kernels k(gpu);
  const auto x = uploaded(gpu, counting(64, 1)), y = gpu.alloc<float>(64);
  const auto f = uploaded<std::uint32_t>(gpu, {1});
  graph::recorder rec(gpu);
  rec.copy(y, x);
  const graph::node n = rec.add(k.scale(2, y));
  rec.if_(f, [&](graph::recorder& then) { then.add(k.scale(3, y)); });
  const graph::graph g = rec.finish();
  for (int i = 0; i < 3; ++i) {
    if (i == 2) {
      ASSERT_OK(g.set(n, k.scale(4, y)));
    }
    EXPECT_OK(gpu.ask(graph::launch{.graph = g}).get());
    EXPECT_EQ(gpu.download(y).get().value(), times(counting(64, 1), i == 2 ? 12 : 6));
    kill_and_wait(gpu);
  }
  EXPECT_OK(gpu.ask(graph::launch{.graph = g}).get());
  EXPECT_EQ(gpu.download(y).get().value(), times(counting(64, 1), 12));
}

// The loop writes y before it reads it, and no other node reads y.
TEST_P(recovery_graphs, a_loop_with_temporaries_runs_again_once_its_inputs_are_sent_again) {
  const device gpu = open();
  const graph_kernels k(gpu);
  const auto x = gpu.alloc<float>(64), y = gpu.alloc<float>(64), sum = gpu.alloc<float>(64);
  const auto again = gpu.alloc<std::uint32_t>(1), count = gpu.alloc<std::uint32_t>(1);
  graph::recorder rec(gpu);
  rec.copy(again, count);
  rec.while_(again, [&](graph::recorder& body) {
    body.copy(y, x);
    body.add(k.scale(2, y));
    body.add(k.add(y, sum), "sum += y");
    body.add(k.down(again, y));
  });
  const graph::graph g = rec.finish();
  const auto step = [&] {
    gpu.upload(x, counting(64, 1));
    gpu.fill(count, 3);
    gpu.fill(sum, 0);
    gpu.tell(graph::launch{.graph = g});
    return gpu.download(sum).get();
  };
  for (int round = 0; round < 4; ++round) {
    const auto found = step();
    ASSERT_OK(found);
    EXPECT_EQ(*found, times(counting(64, 1), 6)) << "round " << round;
    kill_and_wait(gpu);
    gpu.upload(x, counting(64, 1));
    gpu.fill(count, 3);
    EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = g})), reaction::context_lost,
                         {"\"sum += y\" (jit.launch add (graphs.cu)) reads arguments[1], f32[64]@",
                          "which is stale since: ", "SIGKILL"}));
  }
}

TEST_P(recovery_graphs, a_queued_launch_runs_on_the_next_worker_and_one_with_lost_inputs_is_refused) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(64, {.sealable = true}), y = gpu.alloc<float>(64);
  gpu.upload(x, counting(64, 1));
  ASSERT_OK(seal(gpu, x).get());
  pending<void> queued, reading;
  graph::recorder rec(gpu), reader(gpu);
  rec.copy(y, x);
  const auto z = uploaded(gpu, counting(64));
  reader.copy(y, z);
  const graph::graph g = rec.finish(), of_lost = reader.finish();
  {
    blockade block(gpu);
    ASSERT_TRUE(block.entered());
    graph::recorder held(gpu);
    held.fill(buffer<std::uint32_t>(block.gate().memory()).slice(1, 1), 0);  // waits for the blockade
    held.add(g);
    queued = gpu.ask(graph::launch{.graph = held.finish()});
    kill_worker(gpu);
    EXPECT_EQ(error_of(block.answer().get()).reaction(), reaction::context_lost);
  }
  EXPECT_OK(queued.get());
  EXPECT_EQ(gpu.download(y).get().value(), counting(64, 1));
  EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = of_lost})), reaction::context_lost,
                       {"SIGKILL", "graph.launch"}));
}

TEST_P(recovery_graphs, a_graph_survives_the_restart_of_a_library_that_broke_in_a_node) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(1, {.zeroed = true});
  const auto breaks = gpu.alloc<std::uint32_t>(1, {.zeroed = true});
  graph::recorder rec(gpu);
  rec.add(break_once{.x = x, .breaks = breaks});
  const graph::graph g = rec.finish();
  EXPECT_OK(gpu.ask(graph::launch{.graph = g}).get());
  const std::uint64_t opened = gpu.ask(break_handle{.breaks = false}).get().value();
  gpu.fill(breaks, 1);
  EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = g})), reaction::retry_later,
                       {"node 0 (testing.break_once): the handle is broken"}));
  EXPECT_EQ(gpu.ask(break_handle{.breaks = false}).get().value(), opened + 1);
  gpu.fill(x, 5);
  gpu.fill(breaks, 0);  // both buffers are stale
  EXPECT_OK(gpu.ask(graph::launch{.graph = g}).get());
  EXPECT_EQ(gpu.download(x).get().value()[0], 6);
}

TEST_P(recovery_graphs, a_node_that_needs_its_own_lane_is_refused_by_name) {
  const device gpu = open();
  graph::recorder rec(gpu);
  rec.add(hold_slowly{.gate = gpu.alloc_host<std::uint32_t>(2), .result = gpu.alloc<float>(1)});
  EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = rec.finish()})), reaction::unsupported,
                       {"node 0 (testing.hold_slowly): ", "lane of its own"}));
}

TEST_P(recovery_graphs, an_interrupted_launch_is_answered_once_and_can_be_retried) {
  const device gpu = open({.salvage = salvage::untouched});
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  const auto result = gpu.alloc<float>(1);
  graph::recorder rec(gpu);
  rec.add(linger{.gate = gate, .result = result});
  const graph::graph g = rec.finish();
  auto answer = gpu.ask(graph::launch{.graph = g}, {.retries = 1});
  const std::atomic_ref entered_times(gate.data()[entered]);
  while (entered_times.load() == 0) std::this_thread::yield();
  kill_worker(gpu);
  while (entered_times.load() == 1) std::this_thread::yield();
  std::atomic_ref(gate.data()[testing_actor::opened]).store(1);
  EXPECT_OK(answer.get());
  EXPECT_EQ(gpu.download(result).get().value()[0], 2);
}

}  // namespace
}  // namespace troupe::whole
