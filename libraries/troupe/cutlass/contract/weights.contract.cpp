// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks weights that are replaced while products use them.
#include <cmath>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/weights.hpp>
#include <troupe/faults/faults.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using cutlass::weights;

constexpr std::int64_t depth = 96, columns = 40, rows = 3;

class cutlass_refitted_weights : public testing::Test {
 protected:
  device open(device_options o = {}) {
    o = with_test_engines(std::move(o));
    o.restarts = 1000;
    o.quarantine_after = 0;
    return rt.open_device(o);
  }
  // Returns a matrix whose elements are `value`.
  static matrix<float> all(const device& gpu, float value) {
    return {gpu.upload(std::vector<float>(depth * columns, value)), depth, columns};
  }
  struct product {
    pending<void> sent;
    buffer<float> d;
  };
  // Sends the product of a matrix of ones and the current weights.
  static product multiply(const device& gpu, const weights& w) {
    const cutlass::packed_weights now = w.in_force();
    const buffer<float> d = gpu.alloc<float>(rows * columns);
    const matrix ones(gpu.upload(std::vector<half>(rows * depth, half(1.0f))), rows, depth);
    return {gpu.ask(cutlass::gemm{.a = ones, .b = now.b, .d = matrix(d, rows, columns), .b_scales = now.b_scales}), d};
  }
  // Succeeds if all elements are `depth` times `value`, within the rounding of a bf16 scale. The values that one test
  // uses differ by more than that.
  static testing::AssertionResult are_sums(const std::vector<float>& got, float value, float tolerance = 0.004f) {
    const float expected = value * static_cast<float>(depth);
    for (const float x : got)
      if (!(std::fabs(x - expected) <= tolerance * std::fabs(expected)))
        return testing::AssertionFailure() << x << " beside " << got.front() << ", expected " << expected;
    return got.size() == rows * columns ? testing::AssertionSuccess() : testing::AssertionFailure() << got.size();
  }
  static std::vector<float> result_of(const device& gpu, const weights& w) {
    product p = multiply(gpu, w);
    EXPECT_OK(p.sent.get());
    return gpu.download(p.d).get().value();
  }
  runtime rt;
};

// Tests in which the testing actor holds back requests. Only the host engine has that actor.
class testing_actor_beside_weights : public cutlass_refitted_weights {};

TEST_F(cutlass_refitted_weights, products_use_new_weights_when_their_refit_completes) {
  const device gpu = open();
  for (const cutlass::weights_options& o : {cutlass::weights_options{.type = dtype::f16},
                                            {.type = dtype::i8},
                                            {.type = dtype::f8e4m3, .block = 32},
                                            {.type = dtype::f8e5m2, .scale_type = dtype::bf16},
                                            {.type = dtype::f4e2m1x2, .block = 16}}) {
    const auto w = weights::make(gpu, depth, columns, o);
    ASSERT_OK(w);
    EXPECT_TRUE(
        is_error(error_of(gpu.ask(cutlass::pack{.from = w->in_force().b, .packed = matrix(gpu.alloc<float>(1), 1, 1)})),
                 reaction::caller_bug, {"no refit is complete"}));
    for (const float value : {1.0f, 0.5f, 6.0f, -2.0f}) {
      ASSERT_OK(w->refit(gpu, all(gpu, value)).get());
      EXPECT_TRUE(are_sums(result_of(gpu, *w), value)) << to_string(o.type);
    }
    EXPECT_EQ(w->refits(), 4u);
  }
}

TEST_F(testing_actor_beside_weights, products_sent_before_a_refit_use_the_old_weights) {
  const device gpu = open();
  const auto w = weights::make(gpu, depth, columns, {.type = dtype::f16});
  ASSERT_OK(w->refit(gpu, all(gpu, 1)).get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  product before = multiply(gpu, *w);
  auto first = w->refit(gpu, all(gpu, 2));
  product during = multiply(gpu, *w);
  auto second = w->refit(gpu, all(gpu, 3));  // waits for the first
  product later = multiply(gpu, *w);
  b.lift();
  ASSERT_OK(second.get());
  ASSERT_OK(first.get());
  for (product* const p : {&before, &during, &later}) {
    EXPECT_OK(p->sent.get());
    EXPECT_TRUE(are_sums(gpu.download(p->d).get().value(), 1));
  }
  EXPECT_TRUE(are_sums(result_of(gpu, *w), 3)) << "refits complete in the order of the calls";
  EXPECT_EQ(w->refits(), 3u);
}

TEST_F(cutlass_refitted_weights, products_use_the_old_weights_if_a_refit_fails) {
  const device gpu = open();
  const auto w = weights::make(gpu, depth, columns, {.type = dtype::i8});
  ASSERT_OK(w->refit(gpu, all(gpu, 1)).get());
  const matrix wrong(gpu.upload(std::vector<float>(depth * columns, 1)), columns, depth);
  EXPECT_TRUE(is_error(error_of(w->refit(gpu, wrong)), reaction::caller_bug,
                       {"cutlass.pack", "packed is 96 x 40; expected 40 x 96, as from is"}));
  EXPECT_TRUE(
      is_error(error_of(w->refit(gpu, matrix(gpu.upload(std::vector<double>(depth * columns)), depth, columns))),
               reaction::caller_bug, {"cutlass.pack", "from holds f64"}));
  EXPECT_TRUE(is_error(error_of(w->refit(gpu, all(gpu, 5), {.timeout = time_span{}})), reaction::retry_later,
                       {"cutlass.pack"}));
  EXPECT_TRUE(are_sums(result_of(gpu, *w), 1));
  auto bad = w->refit(gpu, wrong);
  auto good = w->refit(gpu, all(gpu, 2));
  EXPECT_FALSE(bad.get());
  ASSERT_OK(good.get()) << "the memory of the failed refit is written again";
  EXPECT_TRUE(are_sums(result_of(gpu, *w), 2));
  EXPECT_EQ(w->refits(), 2u);
}

// The product and the requests of the refit wait for space in the full mailbox, so the product often runs between them.
TEST_F(testing_actor_beside_weights, no_product_uses_partly_refitted_weights_after_a_failed_refit) {
  constexpr std::uint32_t capacity = 8;
  const device gpu = open({.mailbox_capacity = capacity});
  const auto w = weights::make(gpu, depth, columns, {.type = dtype::f8e4m3, .block = 32});
  const matrix ones(gpu.upload(std::vector<half>(rows * depth, half(1.0f))), rows, depth);
  const matrix<float> threes = all(gpu, 3), wrong(gpu.upload(std::vector<float>(4, 1)), 2, 2);
  const buffer<float> d = gpu.alloc<float>(rows * columns);
  int computed = 0;
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    ASSERT_OK(w->refit(gpu, threes).get());
    const cutlass::packed_weights old = w->in_force();
    ASSERT_OK(w->refit(gpu, threes).get());
    EXPECT_FALSE(w->refit(gpu, wrong).get()) << "the memory of `old` is stale";
    gpu.fill(d, 7.0f);
    ASSERT_OK(gpu.sync().get());
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    for (std::uint32_t i = 2; i < capacity; ++i) gpu.tell(testing_actor::nap{.microseconds = 0});
    std::atomic<bool> over{false};
    std::thread refitting([&] {
      EXPECT_OK(w->refit(gpu, threes).get());
      over = true;
    });
    while (old.b.range().owner->stale_marks.load() != 0 && !over) std::this_thread::yield();
    b.lift();
    const accepted sent =
        gpu.tell(cutlass::gemm{.a = ones, .b = old.b, .d = matrix(d, rows, columns), .b_scales = old.b_scales});
    refitting.join();
    if (!sent) continue;
    ++computed;
    EXPECT_TRUE(are_sums(gpu.download(d).get().value(), 3)) << "round " << round;
  }
  EXPECT_GT(computed, 0);
}

TEST_F(cutlass_refitted_weights, current_weights_survive_a_killed_worker) {
  for (const std::uint32_t standbys : {0u, 1u}) {
    const device gpu = open({.standbys = standbys});
    const auto w = weights::make(gpu, depth, columns, {.type = dtype::f8e4m3, .block = 32});
    for (int round = 1; round < 4; ++round) {
      ASSERT_OK(w->refit(gpu, all(gpu, static_cast<float>(round))).get());
      kill_and_wait(gpu);
      EXPECT_TRUE(are_sums(result_of(gpu, *w), static_cast<float>(round))) << "the weights are sealed";
    }
  }
}

TEST_F(testing_actor_beside_weights, a_killed_worker_loses_at_most_the_current_refit) {
  for (const std::uint32_t standbys : {0u, 1u}) {
    const device gpu = open({.lanes = lane_policy::single, .standbys = standbys});
    const auto w = weights::make(gpu, depth, columns, {.type = dtype::f8e4m3, .block = 32});
    ASSERT_OK(w->refit(gpu, all(gpu, 1)).get());
    float value = 1;
    for (int round = 0; round < 4; ++round) {
      // The worker dies during a refit; the operand of the refit is lost, too.
      const matrix<float> next = all(gpu, value + 1);
      ASSERT_OK(gpu.sync().get());
      blockade b(gpu);
      ASSERT_TRUE(b.entered());
      auto lost = w->refit(gpu, next);
      kill_worker(gpu);
      EXPECT_TRUE(is_error(error_of(std::move(lost)), reaction::context_lost, {"SIGKILL"}));
      EXPECT_TRUE(are_sums(result_of(gpu, *w), value)) << "the old weights";
      ASSERT_OK(w->refit(gpu, all(gpu, value + 1)).get());
      EXPECT_TRUE(are_sums(result_of(gpu, *w), ++value));
    }
  }
}

TEST_F(cutlass_refitted_weights, no_product_mixes_two_refits_under_load_and_faults) {
  constexpr int clients = 3;
  const unsigned most_faults = engine_under_test() == "host" ? 200 : 60;  // on a GPU each takes a second: a new context
  const device gpu = open({.mailbox_capacity = 64, .standbys = 1});
  const auto w = weights::make(gpu, depth, columns, {.type = dtype::f8e4m3, .block = 32});
  ASSERT_OK(w->refit(gpu, all(gpu, 1)).get());
  std::atomic<bool> over{false};
  std::atomic<int> newest{1}, wrong{0}, right{0}, refits{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < clients; ++t)
    threads.emplace_back([&] {
      while (!over) {
        const int before = newest;
        const product p = multiply(gpu, *w);
        const auto got = gpu.download(p.d).get();
        if (!got) {
          EXPECT_EQ(got.error().reaction(), reaction::context_lost) << got.error().to_string();
          continue;
        }
        // All elements are from one refit, which was current when the product was sent, or became current meanwhile.
        const float value = std::round(got->front() / static_cast<float>(depth));
        const bool fine = are_sums(*got, value, 1e-5f) && value >= static_cast<float>(before) &&
                          value <= static_cast<float>(newest + 1);
        ++(fine ? right : wrong);
      }
    });
  threads.emplace_back([&] {
    while (!over)
      if (w->refit(gpu, all(gpu, static_cast<float>(newest + 1))).get()) ++newest, ++refits;
  });
  faults::storm storm(gpu, {.kinds = {faults::kind::kill_worker, faults::kind::kill_all, faults::kind::kill_promoted,
                                      faults::kind::segmentation_fault, faults::kind::abort, faults::kind::exit},
                            .per_second = 100,
                            .most = most_faults});
  storm.wait();
  over = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(storm.count(), most_faults);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 0);
  EXPECT_GT(refits, 0);
  EXPECT_EQ(w->refits(), static_cast<std::uint64_t>(refits) + 1);
  EXPECT_TRUE(are_sums(result_of(gpu, *w), static_cast<float>(newest), 1e-5f));
}

TEST_F(cutlass_refitted_weights, refits_are_queued_while_the_mailbox_is_full) {
  const device gpu = open({.mailbox_capacity = 16});
  const auto w = weights::make(gpu, depth, columns, {.type = dtype::bf16});
  ASSERT_OK(w->refit(gpu, all(gpu, 0)).get());
  std::atomic<bool> over{false};
  std::thread other([&] {  // keeps the mailbox full
    const auto some = gpu.alloc<int>(16);
    while (!over) (void)gpu.fill(some, 1);
  });
  std::vector<pending<void>> refits;
  for (int i = 1; i <= 100; ++i) refits.push_back(w->refit(gpu, all(gpu, static_cast<float>(i))));
  float newest = 0;
  for (std::size_t i = 0; i < refits.size(); ++i) {
    const auto how = refits[i].get();
    if (how) {
      newest = static_cast<float>(i + 1);
    } else {
      EXPECT_TRUE(is_error(how.error(), reaction::retry_later, {"full"}));
    }
  }
  over = true;
  other.join();
  EXPECT_GT(newest, 0.0f);
  EXPECT_EQ(gpu.download(buffer<bfloat16>(w->in_force().b.range()).slice(0, 1)).get().value()[0], bfloat16(newest));
}

TEST_F(cutlass_refitted_weights, wrong_options_are_refused) {
  const device gpu = open({.memory_limit = 64 << 20});
  const auto refused = [&](extent k, extent n, const cutlass::weights_options& o, const char* text) {
    const auto w = weights::make(gpu, k, n, o);
    EXPECT_TRUE(is_error(error_of(w), reaction::caller_bug, {"cutlass.weights", text}));
  };
  refused(0, 5, {}, "extents are 0 x 5; expected at least 1");
  refused(5, 5, {.type = dtype::f64}, "type is f64; expected f32, f16, bf16, i8, f8e4m3, f8e5m2 or f4e2m1x2");
  refused(5, 5, {.type = dtype::f4e2m1x2}, "rows is 5; expected an even number");
  refused(5, 5, {.type = dtype::f16, .block = 32}, "block is 32; expected 0: f16 has no scales");
  refused(5, 5, {.type = dtype::i8, .block = 24}, "block is 24; expected 16, 32, 64 ..., or 0");
  refused(5, 5, {.type = dtype::i8, .scale_type = dtype::f16}, "scale_type is f16; expected f32 or bf16");
  refused(5, 5, {.batch = -1},
          "batch is -1; expected 0 for one matrix without a batch axis, or the number of matrices");
  const auto large = weights::make(gpu, 1 << 15, 640);  // 2 x 42 MB
  EXPECT_TRUE(is_error(error_of(large), reaction::retry_later, {"memory"}));
}

}  // namespace
}  // namespace troupe::whole
