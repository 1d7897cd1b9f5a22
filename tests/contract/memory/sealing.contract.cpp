// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Sealed memory on any engine, also on a GPU: TROUPE_TEST_ENGINE=cuda.
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

class sealed_memory : public testing::Test {
 protected:
  device open(isolation how) {
    device_options o = with_test_engines({.isolation = how});
    o.restarts = 10;
    o.standbys = how == isolation::process ? 1 : 0;
    device d = rt.open_device(o);
    EXPECT_OK(d.started().get());
    return d;
  }
  // Reads all of `from` again and again, for many milliseconds.
  static jit::program slow_reader(const device& gpu) {
    return jit::compile(gpu, {.source = "__global__ void sum(const int* from, int n, int rounds, long long* out) {\n"
                                        "  long long all = 0;\n"
                                        "  for (int r = 0; r < rounds; ++r)\n"
                                        "    for (int i = 0; i < n; ++i) all += ((volatile const int*)from)[i];\n"
                                        "  out[0] = all;\n}\n"});
  }
  runtime rt;
};

class sealed_memory_in_isolation : public sealed_memory, public testing::WithParamInterface<isolation> {};
TEST_P(sealed_memory_in_isolation, lets_earlier_readers_finish_before_unsealing) {
  constexpr int words = 4096, readers = 6, rounds = 200, times = 10;
  const device gpu = open(GetParam());
  const auto p = slow_reader(gpu);
  ASSERT_OK(p.ready().get());
  const auto sealed = gpu.alloc<int>(words, {.sealable = true});
  std::vector<buffer<long long>> sums;
  for (int i = 0; i < readers; ++i) sums.push_back(gpu.alloc<long long>(1));
  for (int t = 1; t <= times; ++t) {
    gpu.fill(sealed, t);
    ASSERT_OK(seal(gpu, sealed).get());
    for (const auto& to : sums)
      gpu.tell(
          jit::launch{.kernel = p.kernel("sum"), .grid = 1, .block = 1, .arguments = {sealed, words, rounds, out(to)}});
    pending<void> ended = unseal(gpu, sealed);
    gpu.fill(sealed, -1);
    for (const auto& to : sums) {
      const auto got = gpu.download(to).get();
      ASSERT_OK(got);
      EXPECT_EQ((*got)[0], static_cast<long long>(t) * words * rounds);
    }
    ASSERT_OK(ended.get());
    EXPECT_EQ(gpu.download(sealed).get().value()[words - 1], -1);
  }
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST_F(sealed_memory, outlives_its_worker_and_is_writable_after_unsealing) {
  const device gpu = open(isolation::process);
  const auto kept = gpu.alloc<int>(1000, {.sealable = true}), lost = gpu.alloc<int>(1000, {.zeroed = true});
  gpu.fill(kept, 7);
  ASSERT_OK(seal(gpu, kept).get());
  for (int round = 0; round < 2; ++round) {
    kill_and_wait(gpu);
    EXPECT_EQ(gpu.download(kept).get().value(), std::vector<int>(1000, 7));
    EXPECT_TRUE(is_error(error_of(gpu.download(lost)), reaction::context_lost, {}));
  }
  // The worker is lost while it unseals: the next one can write the memory, or the memory is no longer sealed.
  const std::uint64_t before = gpu.statistics().generation;
  kill_worker(gpu);
  (void)unseal(gpu, kept).get();
  while (gpu.statistics().generation == before) std::this_thread::yield();
  ASSERT_OK(gpu.fill(kept, 8).get());
  EXPECT_EQ(gpu.download(kept).get().value(), std::vector<int>(1000, 8));
  kill_and_wait(gpu);
  EXPECT_TRUE(is_error(error_of(gpu.download(kept)), reaction::context_lost, {}));
}

INSTANTIATE_TEST_SUITE_P(isolation, sealed_memory_in_isolation, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "a_process" : "a_thread"; });

}  // namespace
}  // namespace troupe::whole
