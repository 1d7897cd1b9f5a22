// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Sealed buffers: read-only in every worker, and unchanged after every fault.
#include <tests/contract/faults/with_standbys.hpp>
#include <tests/contract/kernels/jit_source.hpp>
#include <troupe/device/sealing.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class sealing : public with_standbys {
 protected:
  sealing() : with_standbys(100) {}
  static buffer<float> sealable(const device& gpu, const std::vector<float>& data) {
    const auto b = gpu.alloc<float>(data.size(), {.sealable = true});
    gpu.upload(b, data);
    return b;
  }
};
TROUPE_WITH_STANDBYS(sealing);

TEST_P(sealing, keeps_a_buffer_across_faults_until_it_is_unsealed) {
  for (const salvage how : {salvage::strict, salvage::untouched}) {
    const device gpu = open({.salvage = how});
    const auto x = sealable(gpu, counting(5000)), other = sealable(gpu, counting(5000));
    EXPECT_FALSE(x.sealed());
    EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 0u);
    ASSERT_OK(seal(gpu, x).get());
    EXPECT_TRUE(x.sealed());
    EXPECT_TRUE(x.slice(10, 10).sealed());
    EXPECT_FALSE(other.sealed());
    EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 20'000u);
    ASSERT_OK(seal(gpu, x).get()) << "again";
    for (int i = 0; i < 3; ++i) {
      kill_and_wait(gpu);
      EXPECT_EQ(gpu.download(x).get().value(), counting(5000));
      EXPECT_TRUE(x.readable());
      EXPECT_TRUE(x.sealed());
      EXPECT_EQ(other.readable(), how == salvage::untouched);
    }
    ASSERT_OK(unseal(gpu, x).get());
    EXPECT_FALSE(x.sealed());
    EXPECT_TRUE(x.readable());
    EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 0u);
    ASSERT_OK(unseal(gpu, x).get()) << "there is nothing to do";
    ASSERT_OK(gpu.ask(increment{.x = x, .n = 5000}).get());
    EXPECT_EQ(gpu.download(x).get().value(), counting(5000, 1));
    kill_and_wait(gpu);
    EXPECT_EQ(x.readable(), how == salvage::untouched) << "the buffer is an ordinary one again";
    EXPECT_OK(gpu.upload(x, counting(5000, 2)).get()) << "by a worker that never saw it sealed";
  }
}

TEST_P(sealing, refuses_requests_that_would_write_and_serves_those_that_read) {
  const device gpu = open();
  const auto x = sealable(gpu, counting(100));
  const auto y = gpu.alloc<float>(100);
  auto sealed = seal(gpu, x);
  for (int i = 0; i < 2; ++i) {  // while the seal may be in flight, and after it
    EXPECT_TRUE(is_error(error_of(gpu.ask(increment{.x = x, .n = 100})), reaction::caller_bug,
                         {"testing.increment", "x is sealed", "unseal()"}));
    EXPECT_TRUE(is_error(error_of(gpu.fill(x.slice(50, 1), 1.0f)), reaction::caller_bug, {"target is sealed"}));
    EXPECT_TRUE(is_error(error_of(gpu.upload(x, counting(100, 1))), reaction::caller_bug, {"target is sealed"}));
    EXPECT_TRUE(x.readable()) << "a refused request has no effect";
    EXPECT_OK(gpu.copy(y, x).get());
    EXPECT_EQ(gpu.download(x).get().value(), counting(100));
    if (i == 0) {
      EXPECT_OK(sealed.get());
    }
  }
  auto unsealed = unseal(gpu, x);
  EXPECT_OK(gpu.ask(increment{.x = x, .n = 100}).get()) << "the request waits for the end of the seal";
  EXPECT_OK(unsealed.get());
  EXPECT_EQ(gpu.download(x).get().value(), counting(100, 1));
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST_P(sealing, is_refused_for_slices_and_unsealable_buffers) {
  const device gpu = open(), another = open();
  const auto plain = gpu.alloc<float>(100), x = sealable(gpu, counting(100)), foreign = sealable(another, counting(3));
  const auto refused = [&](const buffer<float>& b, std::initializer_list<const char*> words) {
    EXPECT_TRUE(is_error(error_of(seal(gpu, b)), reaction::caller_bug, words));
    EXPECT_FALSE(b.sealed());
  };
  refused(plain, {"alloc_options::sealable"});
  refused(x.slice(0, 99), {"slice of 396 bytes", "400"});
  refused(x.slice(1), {"slice"});
  refused(foreign, {"another device"});
  refused({}, {"empty"});
  refused(buffer<float>(gpu.alloc_host<float>(100).memory()), {"alloc_options::sealable"});
  refused(gpu.alloc<float>(-1, {.sealable = true}), {"count is -1 elements of 4 bytes"});
  EXPECT_OK(seal(gpu, gpu.alloc<float>(0, {.sealable = true})).get());
  EXPECT_TRUE(is_error(*gpu.alloc_host<float>(1, {.sealable = true}).cause(), reaction::caller_bug, {"sealable"}));
  EXPECT_TRUE(is_error(error_of(unseal(gpu, foreign)), reaction::caller_bug, {"another device"}));
  EXPECT_TRUE(is_error(error_of(unseal(gpu, x.slice(1))), reaction::caller_bug, {"slice"}));
  ASSERT_OK(seal(gpu, x.as<std::uint16_t>()).get()) << "the view is the same memory";
  EXPECT_TRUE(x.sealed());
  const auto unwritten = gpu.alloc<float>(10, {.sealable = true});
  gpu.tell(spoil{.target = unwritten, .n = 10, .text = "spoilt"});
  EXPECT_TRUE(is_error(error_of(seal(gpu, unwritten)), reaction::unsupported, {"spoilt", "memory.seal"}));
  EXPECT_FALSE(unwritten.sealed());
}

TEST_P(sealing, waits_for_earlier_writers_and_fails_with_them) {
  const device gpu = open();
  const auto x = sealable(gpu, counting(10)), y = sealable(gpu, counting(10));
  blockade b(gpu);  // blocks the lane of the writer
  ASSERT_TRUE(b.entered());
  gpu.tell(increment{.x = x, .n = 10});
  gpu.tell(spoil{.target = y, .n = 10, .text = "spoilt"});
  auto good = seal(gpu, x), bad = seal(gpu, y);
  EXPECT_FALSE(x.sealed());
  EXPECT_TRUE(is_error(error_of(seal(gpu, x)), reaction::caller_bug, {"is being sealed"}));
  EXPECT_FALSE(good.ready());
  b.lift();
  EXPECT_OK(good.get());
  EXPECT_TRUE(is_error(error_of(std::move(bad)), reaction::unsupported, {"spoilt", "memory.seal"}));
  EXPECT_TRUE(x.sealed());
  EXPECT_FALSE(y.sealed());
  EXPECT_EQ(gpu.download(x).get().value(), counting(10, 1));
  EXPECT_OK(gpu.upload(y, counting(10, 5)).get()) << "an ordinary buffer";
  EXPECT_OK(seal(gpu, y).get());
  EXPECT_TRUE(y.sealed());
}

TEST_P(sealing, does_not_affect_queued_readers) {
  const device gpu = open({.inline_bytes = 0});  // so that the blockade blocks only its own lane
  const auto x = sealable(gpu, counting(2000));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<void>> readers;
  std::vector<buffer<float>> copies;
  for (int i = 0; i < 50; ++i) {
    copies.push_back(gpu.alloc<float>(2000));
    readers.push_back(gpu.ask(testing_actor::copy{.source = x, .target = copies.back(), .n = 2000}));
  }
  EXPECT_OK(seal(gpu, x).get()) << "seal() waits for no reader";
  b.lift();
  for (auto& r : readers) EXPECT_OK(r.get());
  for (const auto& c : copies) EXPECT_EQ(gpu.download(c).get().value(), counting(2000));
}

TEST_P(sealing, has_no_effect_if_the_worker_dies_first) {
  const device gpu = open();
  const auto x = sealable(gpu, counting(10));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(increment{.x = x, .n = 10});
  auto never = seal(gpu, x);
  kill_worker(gpu);
  EXPECT_TRUE(is_error(error_of(std::move(never)), reaction::context_lost, {"SIGKILL"}));
  EXPECT_FALSE(x.sealed());
  EXPECT_FALSE(x.readable());
  EXPECT_OK(gpu.upload(x, counting(10)).get());
  EXPECT_OK(seal(gpu, x).get());
  kill_and_wait(gpu);
  EXPECT_EQ(gpu.download(x).get().value(), counting(10));
}

TEST_P(sealing, is_done_by_the_next_worker_if_untouched_memory_is_kept) {
  const device gpu = open({.lanes = lane_policy::single, .salvage = salvage::untouched});
  const auto x = sealable(gpu, counting(10)), y = sealable(gpu, counting(10));
  ASSERT_OK(seal(gpu, y).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto sealed = seal(gpu, x), unsealed = unseal(gpu, y);
  auto writes = gpu.ask(increment{.x = y, .n = 10});
  kill_worker(gpu);
  EXPECT_OK(sealed.get());
  EXPECT_OK(unsealed.get());
  EXPECT_OK(writes.get());
  EXPECT_TRUE(x.sealed());
  kill_and_wait(gpu);
  EXPECT_EQ(gpu.download(x).get().value(), counting(10));
  EXPECT_EQ(gpu.download(y).get().value(), counting(10, 1));
}

// A real kernel that casts const away, in whichever worker serves.
TEST_P(sealing, protects_against_a_kernel_that_casts_const_away) {
  const device gpu = open();
  constexpr std::size_t n = 10'000;
  const jit::program p =
      jit::compile(gpu, {.source = "__global__ void scribble(const float* x, int at, int n) {\n"
                                   "  for (int i = at; i < n; ++i) const_cast<float*>(x)[i] = -1.0f;\n}\n"
                                   "__global__ void sum(const float* x, int n, float* out) {\n"
                                   "  float s = 0;\n  for (int i = 0; i < n; ++i) s += x[i];\n  out[0] = s;\n}\n"});
  const auto x = sealable(gpu, counting(n)), beside = sealable(gpu, counting(n));
  ASSERT_OK(p.ready().get());
  ASSERT_OK(seal(gpu, x).get());
  ASSERT_OK(seal(gpu, beside).get());
  for (int round = 0; round < 6; ++round) {
    const int at = round % 3 == 0 ? 0 : round % 3 == 1 ? static_cast<int>(n) - 1 : 5000;
    const auto broken =
        gpu.ask(jit::launch{
                    .kernel = p.kernel("scribble"), .grid = 1, .block = 1, .arguments = {x, at, static_cast<int>(n)}})
            .get();
    EXPECT_TRUE(is_error(error_of(broken), reaction::context_lost, {"jit.launch", "SIGSEGV"}));
    const auto got = gpu.download(x).get();
    ASSERT_OK(got);
    EXPECT_EQ(*got, counting(n)) << "round " << round;
    EXPECT_EQ(gpu.download(beside).get().value(), counting(n));
    EXPECT_TRUE(x.sealed());
    auto out = gpu.alloc<float>(1);
    ASSERT_OK(
        gpu.ask(jit::launch{.kernel = p.kernel("sum"), .grid = 1, .block = 1, .arguments = {x, 100, troupe::out(out)}})
            .get())
        << "kernels that only read still run";
    ASSERT_OK(gpu.reset().get());  // otherwise a request that kills twice is refused
    EXPECT_EQ(gpu.download(out).get().value()[0], 4950.0f);
  }
  EXPECT_EQ(gpu.statistics().generation, 7u);
}

TEST_P(sealing, ends_with_the_last_handle_which_frees_the_memory) {
  const device gpu = open({.memory_limit = 1 << 20});
  for (int round = 0; round < 20; ++round) {
    auto x = gpu.alloc<std::byte>(1 << 20, {.sealable = true});  // all of the memory
    ASSERT_TRUE(x.readable()) << x.cause()->to_string();
    ASSERT_OK(gpu.fill(x, static_cast<std::byte>(round)).get());
    ASSERT_OK(seal(gpu, x).get());
    EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 1u << 20);
    if (round % 7 == 3) kill_and_wait(gpu);
    EXPECT_EQ(gpu.download(x).get().value()[12345], static_cast<std::byte>(round));
  }
  EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 0u);
  EXPECT_EQ(gpu.statistics().generation, 4u);
}

TEST_P(sealing, protects_more_buffers_than_fit_one_message) {
  const device gpu = open({.when_full = when_full::wait});
  constexpr int count = 1500;
  std::vector<buffer<int>> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(gpu.alloc<int>(1, {.sealable = true}));
    gpu.fill(all.back(), i);
    if (i % 2 == 0) (void)seal(gpu, all.back());
  }
  ASSERT_OK(gpu.sync().get());
  EXPECT_EQ(gpu.statistics().memory.sealed_bytes, 4u * count / 2);
  for (int round = 0; round < 2; ++round) {
    kill_and_wait(gpu);
    for (int i = 0; i < count; ++i) {
      const auto got = gpu.download(all[static_cast<std::size_t>(i)]).get();
      ASSERT_EQ(static_cast<bool>(got), i % 2 == 0);
      if (got) {
        ASSERT_EQ(got->front(), i);
      }
    }
  }
  for (int i = 0; i < count; i += 2) (void)unseal(gpu, all[static_cast<std::size_t>(i)]);
  for (int i = 0; i < count; ++i) gpu.fill(all[static_cast<std::size_t>(i)], 7);
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(gpu.statistics().generation, 3u);
}

// Either the seal or the writer is first; neither order costs a worker.
TEST_P(sealing, may_race_with_writers) {
  const device gpu = open({.mailbox_capacity = 256, .when_full = when_full::wait});
  const auto x = sealable(gpu, std::vector<float>(16, 0.0f));
  std::atomic<bool> over{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t)
    writers.emplace_back([&] {
      while (!over) {
        const auto how = gpu.ask(increment{.x = x, .n = 16}).get();
        if (how)
          ++written;
        else
          EXPECT_TRUE(is_error(how.error(), reaction::caller_bug, {"sealed"}));
      }
    });
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK(seal(gpu, x).get());
    const auto first = gpu.download(x).get(), second = gpu.download(x).get();
    ASSERT_OK(first);
    EXPECT_EQ(*first, second.value());
    ASSERT_OK(unseal(gpu, x).get());
    const int before = written;
    while (i % 10 == 0 && written == before) std::this_thread::yield();
  }
  over = true;
  for (auto& w : writers) w.join();
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(16, static_cast<float>(written)));
  EXPECT_EQ(gpu.statistics().generation, 1u);
}

TEST_P(sealing, survives_stop_and_reset_of_the_device) {
  device_options o = with_test_engines();
  o.restarts = 1;
  o.standbys = GetParam();
  const device gpu = rt.open_device(o);
  const auto x = sealable(gpu, counting(10)), y = sealable(gpu, counting(10));
  ASSERT_OK(seal(gpu, x).get());
  kill_and_wait(gpu);
  ASSERT_OK(gpu.sync().get());
  kill_worker(gpu);
  ASSERT_FALSE(gpu.stopped().get());
  EXPECT_TRUE(is_error(error_of(unseal(gpu, x)), reaction::stopped, {"reset()"}));
  EXPECT_TRUE(x.sealed());
  ASSERT_OK(gpu.reset().get());
  EXPECT_EQ(gpu.download(x).get().value(), counting(10));
  EXPECT_FALSE(y.readable());
  EXPECT_OK(unseal(gpu, x).get());
  EXPECT_OK(gpu.fill(x, 1.0f).get());
}

TEST(sealing_in_a_thread, refuses_writers_and_unseals_as_in_a_process) {
  runtime rt;
  const device gpu = rt.open_device({.isolation = isolation::thread});
  const auto x = gpu.alloc<float>(10, {.sealable = true});
  gpu.fill(x, 3.0f);
  ASSERT_OK(seal(gpu, x).get());
  EXPECT_TRUE(x.sealed());
  EXPECT_TRUE(is_error(error_of(gpu.fill(x, 4.0f)), reaction::caller_bug, {"sealed"}));
  ASSERT_OK(unseal(gpu, x).get());
  ASSERT_OK(gpu.fill(x, 4.0f).get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(10, 4.0f));
}

}  // namespace
}  // namespace troupe::whole
