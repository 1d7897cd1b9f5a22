// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that errors are passed on with the data.
#include <troupe/device/sealing.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class data_errors : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));

  buffer<float> zeros(int n = 10) {
    const auto b = gpu.alloc<float>(n);
    gpu.fill(b, 0.0f);
    return b;
  }
};
INSTANTIATE_TEST_SUITE_P(each, data_errors, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(data_errors, dependents_fail_with_the_first_error_and_its_chain_while_others_run) {
  const auto x = zeros(), y = zeros(), z = zeros(), other = zeros();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());  // everything below is queued before any of it runs
  gpu.tell(spoil{.target = x, .n = 10, .text = "broken on purpose"});
  gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 10});
  gpu.tell(increment{.x = y, .n = 10});
  gpu.tell(testing_actor::copy{.source = y, .target = z, .n = 10});
  auto end = gpu.download(z);
  auto unrelated = gpu.ask(increment{.x = other, .n = 10});
  b.lift();
  const error e = error_of(std::move(end));
  EXPECT_TRUE(is_error(e, reaction::unsupported, {"broken on purpose"}));
  EXPECT_EQ(e.request().name, "testing.spoil");
  std::vector<std::string> chain;
  for (const request_id& step : e.chain()) chain.push_back(step.name);
  EXPECT_EQ(chain, (std::vector<std::string>{"testing.copy", "testing.increment", "testing.copy", "memory.download"}));
  EXPECT_OK(unrelated.get());
  EXPECT_EQ(gpu.download(other).get().value(), std::vector<float>(10, 1.0f));
  for (const auto& stale : {x, y, z}) {
    EXPECT_FALSE(stale.readable());
    EXPECT_EQ(stale.cause().value().request().name, "testing.spoil");
  }
  EXPECT_TRUE(other.readable());
}

TEST_P(data_errors, dependents_sent_after_a_known_failure_are_refused_with_the_same_error) {
  const auto x = zeros(), y = zeros();
  EXPECT_TRUE(
      is_error(error_of(gpu.ask(spoil{.target = x, .n = 10, .text = "broken on purpose"})), reaction::unsupported, {}));
  EXPECT_FALSE(x.readable());
  const accepted s = gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 10});
  ASSERT_FALSE(s);
  EXPECT_TRUE(is_error(s.error(), reaction::unsupported, {"testing.spoil", "broken on purpose", "testing.copy"}));
  EXPECT_FALSE(y.readable());
  const error e = error_of(gpu.download(y));
  ASSERT_EQ(e.chain().size(), 2u) << e.to_string();
  EXPECT_EQ(e.chain()[0].name, "testing.copy");
  EXPECT_EQ(e.chain()[1].name, "memory.download");
}

TEST_P(data_errors, a_closed_device_names_the_refused_request_and_no_chain) {
  const auto x = zeros();
  EXPECT_OK(gpu.close().get());
  const accepted s = gpu.tell(increment{.x = x, .n = 10});
  ASSERT_FALSE(s);
  EXPECT_TRUE(is_error(s.error(), reaction::stopped, {"testing.increment"}));
  EXPECT_TRUE(s.error().chain().empty()) << s.error().to_string();
}

TEST_P(data_errors, overwriting_makes_a_buffer_valid_again) {
  const auto x = zeros();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(spoil{.target = x, .n = 10, .text = ""});
  gpu.fill(x, 2.0f);
  auto got = gpu.download(x);
  b.lift();
  EXPECT_EQ(got.get().value(), std::vector<float>(10, 2.0f));
  EXPECT_TRUE(x.readable());
  (void)gpu.ask(spoil{.target = x, .n = 10, .text = ""}).get();
  EXPECT_FALSE(x.readable());
  gpu.upload(x, counting(10));
  EXPECT_EQ(gpu.download(x).get().value(), counting(10));
  EXPECT_TRUE(x.readable());
}

TEST_P(data_errors, an_inout_of_a_stale_buffer_does_not_make_it_valid) {
  const auto x = zeros();
  (void)gpu.ask(spoil{.target = x, .n = 10, .text = ""}).get();
  EXPECT_NE(error_text(gpu.ask(increment{.x = x, .n = 10}).get()), "");
  EXPECT_FALSE(x.readable());
}

TEST_P(data_errors, slices_are_stale_exactly_where_the_failure_was) {
  const auto x = gpu.alloc<float>(100);
  gpu.upload(x, counting(100));
  (void)gpu.ask(spoil{.target = x.slice(30, 20), .n = 20, .text = ""}).get();
  EXPECT_TRUE(x.slice(0, 30).readable());
  EXPECT_TRUE(x.slice(50, 50).readable());
  EXPECT_FALSE(x.slice(29, 2).readable());
  EXPECT_FALSE(x.slice(49, 2).readable());
  EXPECT_FALSE(x.readable());
  EXPECT_EQ(gpu.download(x.slice(50)).get().value(), counting(50, 50));
  EXPECT_NE(error_text(gpu.download(x.slice(49, 1)).get()), "");
  // Half of the buffer is overwritten, so that half is valid.
  gpu.upload(x.slice(30, 10), counting(10));
  EXPECT_EQ(gpu.download(x.slice(0, 40)).get().value().back(), 9.0f);
  EXPECT_NE(error_text(gpu.download(x.slice(0, 41)).get()), "");
  gpu.upload(x.slice(40, 10), counting(10));
  EXPECT_TRUE(x.readable());
  EXPECT_OK(gpu.download(x).get());
}

TEST_P(data_errors, queued_requests_fail_only_for_the_poisoned_slices) {
  const auto x = gpu.alloc<float>(100);
  gpu.upload(x, counting(100));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(spoil{.target = x.slice(30, 20), .n = 20, .text = "here"});
  auto left = gpu.download(x.slice(0, 30)), right = gpu.download(x.slice(50)), across = gpu.download(x.slice(45, 10));
  b.lift();
  EXPECT_EQ(left.get().value(), counting(30));
  EXPECT_EQ(right.get().value(), counting(50, 50));
  EXPECT_TRUE(is_error(error_of(across.get()), reaction::unsupported, {"here"}));
}

TEST_P(data_errors, a_refused_request_makes_its_outputs_stale_but_not_its_inputs) {
  const auto x = zeros(), y = zeros();
  EXPECT_FALSE(gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 11}));
  EXPECT_TRUE(x.readable());
  EXPECT_FALSE(y.readable());
  EXPECT_TRUE(
      is_error(error_of(gpu.download(y)), reaction::caller_bug, {"testing.copy", "holds 10", "memory.download"}));
}

TEST_P(data_errors, reallocated_memory_is_not_stale) {
  for (int round = 0; round < 20; ++round) {
    std::uint64_t address = 0;
    {
      const auto x = zeros();
      address = x.memory().address;
      gpu.tell(spoil{.target = x, .n = 10, .text = ""});
      EXPECT_OK(gpu.sync().get());
      EXPECT_FALSE(x.readable());
    }
    (void)gpu.statistics();  // processes answers, so that the block is freed
    const auto again = gpu.alloc<float>(10);
    EXPECT_EQ(again.memory().address, address) << "the test needs the same memory again";
    EXPECT_TRUE(again.readable());
    // Reading memory that was never written is allowed; its content is undefined.
    EXPECT_OK(gpu.download(again).get());
    EXPECT_OK(gpu.ask(increment{.x = again, .n = 10}).get());
  }
}

TEST_P(data_errors, a_failed_allocation_is_stale_and_its_reason_reaches_the_last_answer) {
  const auto huge = gpu.alloc<float>(extent(1) * (std::int64_t{1} << 55));
  const auto y = zeros();
  EXPECT_FALSE(huge.readable());
  EXPECT_TRUE(is_error(*huge.cause(), reaction::caller_bug, {"never fit", "memory_limit"}));
  gpu.tell(testing_actor::copy{.source = huge, .target = y, .n = 10});
  EXPECT_TRUE(
      is_error(error_of(gpu.download(y)), reaction::caller_bug, {"never fit", "testing.copy", "memory.download"}));
}

TEST_P(data_errors, a_negative_allocation_is_refused_in_elements) {
  const auto cause = [](const auto& made) { return *made.cause(); };
  EXPECT_TRUE(is_error(cause(gpu.alloc<double>(-5)), reaction::caller_bug,
                       {"count is -5 elements of 8 bytes; expected at least 0"}));
  EXPECT_TRUE(is_error(cause(gpu.alloc_host<char>(-1)), reaction::caller_bug, {"count is -1 elements of 1 byte;"}));
}

TEST_P(data_errors, a_failure_of_a_dropped_pending_reaches_the_last_answer) {
  const auto x = zeros();
  {
    auto dropped = gpu.ask(spoil{.target = x, .n = 10, .text = "unread"});
  }
  EXPECT_TRUE(is_error(error_of(gpu.download(x)), reaction::unsupported, {"unread"}));
}

TEST_P(data_errors, the_earliest_of_several_failures_is_reported) {
  const auto x = zeros(), y = zeros(), z = zeros();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(spoil{.target = x, .n = 10, .text = "first"});
  gpu.tell(spoil{.target = y, .n = 10, .text = "second"});
  gpu.tell(spoil{.target = x, .n = 10, .text = "third"});
  auto end = gpu.ask(testing_actor::copy{.source = x, .target = z, .n = 10});
  b.lift();
  EXPECT_TRUE(is_error(error_of(end.get()), reaction::unsupported, {"third"}))
      << "the request replaced what the first one had made stale";
}

TEST_P(data_errors, a_failure_known_only_from_a_reply_spreads_to_requests_that_have_run) {
  const auto x = zeros(), y = zeros(), z = zeros(), other = zeros();
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(fail_late{.target = x});
  gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 10});
  auto end = gpu.ask(testing_actor::copy{.source = y, .target = z, .n = 10});
  auto unrelated = gpu.ask(fail_late{.target = other, .fails = false});
  auto anew = gpu.ask(testing_actor::copy{.source = other, .target = y, .n = 10});
  b.lift();
  const error e = error_of(std::move(end));
  EXPECT_TRUE(is_error(e, reaction::caller_bug, {"found too late"}));
  EXPECT_EQ(e.request().name, "testing.fail_late");
  EXPECT_NE(e.request().ticket, 0u);
  ASSERT_EQ(e.chain().size(), 2u) << e.to_string();
  EXPECT_EQ(unrelated.get().value(), false);
  EXPECT_OK(anew.get());
  EXPECT_FALSE(x.readable());
  EXPECT_TRUE(y.readable()) << "the buffer was overwritten";
  EXPECT_FALSE(z.readable());
  EXPECT_EQ(gpu.download(y).get().value().front(), 1.0f);
  EXPECT_TRUE(is_error(error_of(gpu.download(x)), reaction::caller_bug, {"found too late", "memory.download"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(fail_late{.target = other})), reaction::caller_bug, {"found too late"}));
}

TEST_P(data_errors, a_failure_known_only_from_a_reply_reaches_dependents_that_run_meanwhile) {
  const auto x = zeros(), y = zeros();
  for (int round = 0; round < 300; ++round) {
    gpu.upload(x, counting(10));
    gpu.tell(fail_late{.target = x});
    gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 10});
    gpu.tell(increment{.x = y, .n = 10});
    EXPECT_TRUE(is_error(error_of(gpu.download(y)), reaction::caller_bug, {"found too late"})) << round;
  }
}

TEST_P(data_errors, no_thread_reads_results_of_a_request_whose_reply_says_that_it_failed) {
  const auto x = zeros(), y = zeros();
  const std::vector<float> good(10, 50.0f);
  std::atomic<bool> ended{false};
  std::jthread overwrites([&] {
    while (!ended.load()) gpu.upload(y, good);
  });
  int failed = 0;
  for (int round = 0; round < 1000; ++round) {
    gpu.upload(x, counting(10));
    gpu.tell(fail_late{.target = x});
    gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 10});
    gpu.tell(increment{.x = y, .n = 10});
    auto read = gpu.download(y).get();
    if (!read)
      ++failed;
    else
      EXPECT_GE(read->front(), 50.0f) << round;
  }
  ended = true;
  EXPECT_GT(failed, 0);
}

TEST_P(data_errors, a_buffer_that_proves_to_be_stale_after_it_was_sealed_can_be_written) {
  const auto x = gpu.alloc<float>(10, {.sealable = true});
  gpu.fill(x, 0.0f);
  for (int round = 0; round < 3; ++round) {
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    gpu.tell(fail_late{.target = x});
    auto sealed = seal(gpu, x);
    b.lift();
    EXPECT_TRUE(is_error(error_of(std::move(sealed)), reaction::caller_bug, {"found too late"}));
    gpu.upload(x, counting(10));
    EXPECT_EQ(gpu.download(x).get().value(), counting(10));
  }
}

TEST_P(data_errors, thousands_of_failures_are_each_reported_for_the_right_request) {
  tally answers;
  const auto x = zeros(), fine = zeros();
  for (int i = 0; i < 3000; ++i) {
    auto p = gpu.ask(spoil{.target = x, .n = 10, .text = std::string(900, 'e')});
    if (!p.ready())
      answers.watch(std::move(p));
    else if (error_of(p.get()).reaction() == reaction::retry_later)
      --i;  // the mailbox is full: try again
  }
  EXPECT_OK(gpu.ask(increment{.x = fine, .n = 10}).get());
  answers.await_all();
  EXPECT_EQ(answers.failed(reaction::unsupported), answers.expected());
  EXPECT_EQ(gpu.download(fine).get().value(), std::vector<float>(10, 1.0f));
}

}  // namespace
}  // namespace troupe::whole
