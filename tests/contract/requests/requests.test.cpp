// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Requests that are wrong, unknown, or fail in the engine; and the mailbox.
#include <troupe/device/matrix_copy.hpp>
#include <troupe/memory/requests.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class requests : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));

  // Expects that no error has harmed the worker.
  void TearDown() override {
    EXPECT_EQ(gpu.ping(7).get().value_or(0), 7u);
    EXPECT_OK(gpu.close().get());
    EXPECT_EQ(gpu.statistics().depth, 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(each, requests, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(requests, an_unknown_request_is_unsupported) {
  const auto x = gpu.alloc<float>(4);
  EXPECT_TRUE(is_error(error_of(gpu.ask(absent{.target = x})), reaction::unsupported,
                       {"testing.absent", "does not know this request"}));
}

TEST_P(requests, a_reader_of_an_unknown_requests_output_fails_with_its_name) {
  const auto x = gpu.alloc<float>(4);
  blockade b(gpu);
  gpu.tell(absent{.target = x});
  auto late = gpu.download(x);
  b.lift();
  const error e = error_of(std::move(late));
  EXPECT_EQ(e.request().name, "testing.absent") << e.to_string();
  ASSERT_EQ(e.chain().size(), 1u) << e.to_string();
  EXPECT_EQ(e.chain()[0].name, "memory.download");
}

TEST_P(requests, a_request_of_a_library_without_an_engine_is_unsupported) {
  EXPECT_TRUE(is_error(error_of(gpu.ask(nowhere::thing{})), reaction::unsupported,
                       {"nowhere.thing", "engine_folders", "memory"}));
}

TEST_P(requests, a_library_that_cannot_be_loaded_fails_its_requests_and_only_those) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(
        is_error(error_of(gpu.ask(broken::thing{})), reaction::unsupported, {"broken", "install libbroken-dev"}));
    EXPECT_TRUE(is_error(error_of(gpu.ask(failing::thing{})), reaction::unsupported, {"failing", "expected model 7"}));
  }
}

TEST_P(requests, an_error_of_an_engine_arrives_complete) {
  for (int r = 0; r <= static_cast<int>(reaction::fatal); ++r) {
    if (static_cast<reaction>(r) == reaction::context_lost) continue;  // it requests another worker
    const error e = error_of(gpu.ask(fail{.how = static_cast<reaction>(r), .code = -42, .text = "the reason"}));
    EXPECT_EQ(e.reaction(), static_cast<reaction>(r));
    EXPECT_EQ(e.domain(), "testing");
    EXPECT_EQ(e.code(), -42);
    EXPECT_EQ(e.text(), "the reason");
    EXPECT_EQ(e.request().name, "testing.fail");
    EXPECT_GT(e.request().ticket, 0u);
    EXPECT_EQ(e.generation(), 1u);
    EXPECT_TRUE(e.chain().empty());
  }
}

TEST_P(requests, long_error_texts_are_truncated_and_control_characters_replaced) {
  const error e = error_of(
      gpu.ask(fail{.how = reaction::fatal, .code = 0, .text = std::string("\x1b[31m") + std::string(5000, 'x')}));
  EXPECT_EQ(e.text().substr(0, 5), "?[31m");
  EXPECT_GT(e.text().size(), 500u);
  EXPECT_LT(e.text().size(), 1100u);
}

TEST_P(requests, an_exception_of_an_engine_becomes_an_error) {
  EXPECT_TRUE(is_error(error_of(gpu.ask(throws{.what = thrown::exception})), reaction::fatal,
                       {"testing.throws", "thrown by the engine"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(throws{.what = thrown::number})), reaction::fatal,
                       {"testing.throws", "not a std::exception"}));
}

TEST_P(requests, text_and_lists_arrive_complete_at_every_size) {
  for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 4096u, 100'000u}) {
    std::string text(n, 'a');
    std::vector<std::uint32_t> list(n);
    for (std::size_t i = 0; i < n; ++i)
      text[i] = static_cast<char>('a' + i % 26), list[i] = static_cast<std::uint32_t>(i * i);
    EXPECT_EQ(gpu.ask(checksum{.text = text, .list = list}).get().value(), checksum_of(text, list)) << n;
    EXPECT_EQ(gpu.ask(checksum{.text = text, .list = {}}).get().value(), checksum_of(text, {})) << n;
  }
}

TEST_P(requests, the_largest_replies_arrive_complete_in_any_order) {
  std::vector<pending<widest::reply>> answers;
  for (std::uint64_t i = 0; i < 200; ++i) answers.push_back(gpu.ask(widest{.seed = i * 1000}));
  for (std::uint64_t i = 200; i-- > 0;) {
    const auto r = answers[i].get().value();
    for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(r[k], i * 1000 + k);
  }
}

TEST_P(requests, invalid_sizes_are_refused_by_field) {
  const auto a = gpu.alloc<float>(10), b = gpu.alloc<float>(10);
  struct wrong {
    extent n;
    const char* text;
  };
  for (const wrong& w : {wrong{0, "n is 0"}, wrong{-1, "n is -1"}, wrong{11, "holds 10"}, wrong{INT64_MAX, "holds 10"},
                         wrong{UINT64_MAX, "n is"}, wrong{extent(INT64_MAX) * 2, "n is"}, wrong{tight, "n is"}}) {
    EXPECT_TRUE(is_error(error_of(gpu.ask(testing_actor::copy{.source = a, .target = b, .n = w.n})),
                         reaction::caller_bug, {w.text, "expected"}));
  }
}

TEST_P(requests, operands_that_overlap_are_refused_unless_both_are_read) {
  const auto a = gpu.alloc<float>(10);
  gpu.upload(a, counting(10));
  EXPECT_OK(gpu.ask(testing_actor::copy{.source = a.slice(0, 6), .target = a.slice(5, 5), .n = 5}).get());
  EXPECT_TRUE(is_error(error_of(gpu.ask(testing_actor::copy{.source = a.slice(0, 6), .target = a.slice(4, 6), .n = 6})),
                       reaction::caller_bug, {"target", "overlaps source"}));
  EXPECT_TRUE(is_error(error_of(gpu.copy(a, a)), reaction::caller_bug, {"overlaps"}));
}

TEST_P(requests, two_dimensional_copies_refuse_shapes_that_do_not_fit) {
  const auto a = gpu.alloc<float>(100), b = gpu.alloc<float>(100);
  gpu.fill(a, 1.0f);
  EXPECT_OK(copy_2d(gpu, matrix_copy{.to = b, .to_ld = 10, .from = a, .from_ld = 10, .rows = 10, .columns = 10}).get());
  EXPECT_OK(
      copy_2d(gpu, matrix_copy{.to = b, .to_ld = tight, .from = a, .from_ld = tight, .rows = 10, .columns = 10}).get());
  EXPECT_TRUE(is_error(
      error_of(copy_2d(gpu, matrix_copy{.to = b, .to_ld = 10, .from = a, .from_ld = 10, .rows = 10, .columns = 11})),
      reaction::caller_bug, {"holds"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(gpu, matrix_copy{.to = b, .to_ld = 10, .from = a, .from_ld = 9, .rows = 10, .columns = 10})),
      reaction::caller_bug, {"source_pitch is 36", "40"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(gpu, matrix_copy{.to = b, .to_ld = -10, .from = a, .from_ld = 10, .rows = 10, .columns = 10})),
      reaction::caller_bug, {"target_pitch is -40"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(gpu, matrix_copy{.to = b, .to_ld = 10, .from = a, .from_ld = 10, .rows = -1, .columns = 10})),
      reaction::caller_bug, {"width is -4"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(gpu, matrix_copy{.to = b, .to_ld = 10, .from = a, .from_ld = 10, .rows = 10, .columns = -1})),
      reaction::caller_bug, {"rows is -1"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(
          gpu, matrix_copy{.to = b, .to_ld = INT64_MAX, .from = a, .from_ld = INT64_MAX, .rows = 10, .columns = 10})),
      reaction::caller_bug, {"expected"}));
  EXPECT_TRUE(is_error(
      error_of(copy_2d(
          gpu, matrix_copy{.to = b, .to_ld = INT64_MAX / 8, .from = a, .from_ld = 10, .rows = 10, .columns = 10})),
      reaction::caller_bug, {"expected"}));
}

TEST_P(requests, transfers_that_do_not_fit_are_refused_with_both_sizes) {
  const auto small = gpu.alloc<float>(10);
  gpu.fill(small, 0.0f);
  for (const std::size_t n : {11u, 100'000u}) {
    EXPECT_TRUE(is_error(error_of(gpu.upload(small, counting(n))), reaction::caller_bug,
                         {"target", "holds 40 bytes", std::to_string(n * 4).c_str()}));
    EXPECT_OK(gpu.fill(small, 0.0f).get());
  }
  std::vector<float> room(9);
  EXPECT_TRUE(is_error(error_of(gpu.download(small, std::span(room))), reaction::caller_bug, {"36", "40"}));
  const auto host = gpu.alloc_host<float>(9);
  EXPECT_TRUE(is_error(error_of(gpu.download(small, host)), reaction::caller_bug, {"target", "holds 36"}));
  EXPECT_TRUE(is_error(error_of(gpu.copy(small.slice(0, 5), small)), reaction::caller_bug, {"target", "holds 20"}));
}

TEST_P(requests, empty_buffers_are_refused_by_every_request) {
  const buffer<float> none;
  const host_buffer<float> nothing;
  const auto x = gpu.alloc<float>(10);
  gpu.fill(x, 0.0f);
  for (const error& e :
       {error_of(gpu.upload(none, counting(1))), error_of(gpu.upload(none, counting(100'000))),
        error_of(gpu.download(none)), error_of(gpu.upload(x, nothing)), error_of(gpu.download(x, nothing)),
        error_of(gpu.copy(x, none)), error_of(gpu.copy(none, x)),
        error_of(copy_2d(gpu, matrix_copy{.to = none, .to_ld = 1, .from = x, .from_ld = 1, .rows = 1, .columns = 1})),
        error_of(gpu.fill(none, 1.0f))})
    EXPECT_TRUE(is_error(e, reaction::caller_bug, {"empty buffer"}));
  std::vector<float> room(10);
  EXPECT_TRUE(is_error(error_of(gpu.download(none, std::span(room))), reaction::caller_bug, {"empty buffer"}));
  EXPECT_FALSE(none.readable());
  EXPECT_TRUE(none.cause());
  EXPECT_EQ(none.size(), 0);
  EXPECT_FALSE(none.slice(0, 1).readable());
}

TEST_P(requests, succeed_if_they_move_nothing) {
  const auto x = gpu.upload(counting(10)), none = gpu.alloc<float>(0), end = x.slice(10);
  EXPECT_TRUE(none.readable());
  EXPECT_TRUE(gpu.alloc<float>(0, {.zeroed = true}).readable());
  const auto host = gpu.alloc_host<float>(0);
  EXPECT_TRUE(host.readable());
  EXPECT_TRUE(host.span().empty());
  for (const auto& b : {none, end, x.slice(4, 0)}) {
    EXPECT_OK(gpu.upload(b, std::span<const float>()).get());
    EXPECT_OK(gpu.upload(b, host).get());
    EXPECT_OK(gpu.download(b, host).get());
    EXPECT_OK(gpu.copy(b, none).get());
    EXPECT_OK(gpu.copy(x, b).get());
    EXPECT_OK(gpu.fill(b, 1.0f).get());
    EXPECT_OK(copy_2d(gpu, matrix_copy{.to = b, .from = x, .rows = 0, .columns = 3}).get());
    const auto all = gpu.download(b).get();
    ASSERT_TRUE(all) << all.error().to_string();
    EXPECT_TRUE(all->empty());
    EXPECT_OK(gpu.download(b, std::span<float>()).get());
  }
  EXPECT_OK(gpu.upload(x, std::span<const float>()).get());
  EXPECT_EQ(gpu.download(x).get().value(), counting(10)) << "nothing was written";
  EXPECT_TRUE(is_error(error_of(gpu.upload(none, counting(1))), reaction::caller_bug, {"target", "holds 0 bytes"}));
}

TEST_P(requests, slices_outside_their_buffer_are_refused_when_used) {
  const auto x = gpu.alloc<float>(10);
  gpu.fill(x, 0.0f);
  struct wrong {
    extent first, count;
  };
  for (const wrong& w : {wrong{0, 11}, wrong{10, 1}, wrong{5, 6}, wrong{-1, 3}, wrong{11, 0}, wrong{3, -1},
                         wrong{INT64_MAX, INT64_MAX}, wrong{1, INT64_MAX}}) {
    const auto s = x.slice(w.first, w.count);
    EXPECT_FALSE(s.readable());
    EXPECT_TRUE(is_error(error_of(gpu.download(s)), reaction::caller_bug, {"slice: ", " is "}))
        << w.first.value() << ", " << w.count.value();
    EXPECT_TRUE(is_error(error_of(gpu.fill(s, 1.0f)), reaction::caller_bug, {"slice"}));
  }
  EXPECT_TRUE(is_error(error_of(gpu.download(x.slice(1, 3).as<double>())), reaction::caller_bug, {"as:"}));
  EXPECT_EQ(gpu.download(x.slice(2, 8).slice(3)).get().value(), std::vector<float>(5, 0.0f));
}

TEST_P(requests, a_moved_from_device_handle_is_still_the_device) {
  device there = gpu;
  const device here = std::move(there);
  EXPECT_EQ(there, here);
  EXPECT_EQ(there.ping(3).get().value_or(0), 3u);
}

TEST(mailbox, refuses_requests_when_full_and_accepts_them_again_later) {
  for (auto where : {isolation::process, isolation::thread}) {
    runtime rt;
    const device gpu =
        rt.open_device(with_test_engines({.isolation = where, .mailbox_capacity = 8, .when_full = when_full::refuse}));
    const auto x = gpu.alloc<float>(4);
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    tally queued;
    for (int i = 0; i < 7; ++i) queued.watch(gpu.ask(nap{.microseconds = 0}));
    EXPECT_EQ(gpu.statistics().depth, 8u);
    const accepted sent = gpu.tell(increment{.x = x, .n = 4});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.ticket(), 0u);
    EXPECT_TRUE(is_error(sent.error(), reaction::retry_later,
                         {"testing.increment", "mailbox", "full", "8", "mailbox_capacity", "when_full"}));
    EXPECT_TRUE(is_error(error_of(gpu.ping()), reaction::retry_later, {"full"}));
    EXPECT_EQ(gpu.statistics().rejected.mailbox_full, 2u);
    EXPECT_EQ(gpu.statistics().rejected.total(), 2u);
    EXPECT_FALSE(x.readable()) << "the refused request should have written it";
    EXPECT_TRUE(is_error(*x.cause(), reaction::retry_later, {"testing.increment"}));
    b.lift();
    queued.await_all();
    EXPECT_EQ(queued.fine(), 7);
    EXPECT_OK(gpu.fill(x, 0.0f).get());
    EXPECT_TRUE(x.readable());
  }
}

TEST(mailbox, counts_rejected_requests_by_reason) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(4, {.zeroed = true});
  const auto completed = gpu.statistics().completed;
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = -1}));
  EXPECT_EQ(gpu.statistics().rejected.invalid, 1u);
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = 4})) << "the first request should have written it";
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = -1})) << "the request's own mistake is reported first";
  EXPECT_FALSE(gpu.tell(nap{.microseconds = 0}, {.timeout = time_span{}}));
  std::stop_source client;
  client.request_stop();
  EXPECT_FALSE(gpu.within({.stop = client.get_token()}).tell(nap{.microseconds = 0}));
  const rejected_requests before = gpu.statistics().rejected;
  EXPECT_EQ(before.invalid, 2u);
  EXPECT_EQ(before.stale_data, 1u);
  EXPECT_EQ(before.overdue, 2u);
  EXPECT_EQ(before.total(), 5u);
  EXPECT_FALSE(gpu.tell(increment{.x = x.slice(2, 9), .n = 1}));
  EXPECT_EQ(gpu.statistics().rejected.invalid, 3u) << "a slice beyond its buffer is no stale data";
  EXPECT_EQ(gpu.statistics().completed, completed) << "none of them ran";
  ASSERT_OK(gpu.close().get());
  EXPECT_FALSE(gpu.tell(nap{.microseconds = 0}));
  EXPECT_EQ(gpu.statistics().rejected.stopped, 1u);
  EXPECT_EQ(gpu.statistics().rejected.total(), 7u);
}

TEST(mailbox, refuses_requests_that_read_stale_data_for_another_reason_if_there_is_one) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto x = gpu.alloc<float>(4, {.zeroed = true});
  EXPECT_FALSE(gpu.tell(increment{.x = x, .n = -1}));
  EXPECT_EQ(gpu.ask(increment{.x = x, .n = 4}).get().error().reaction(), reaction::caller_bug);
  EXPECT_EQ(gpu.ask(increment{.x = x, .n = 4}, {.timeout = time_span{}}).get().error().reaction(),
            reaction::retry_later);
  EXPECT_EQ(gpu.statistics().rejected.overdue, 1u);
  ASSERT_OK(gpu.close().get());
  EXPECT_EQ(gpu.ask(increment{.x = x, .n = 4}).get().error().reaction(), reaction::stopped)
      << "a loop that ends when the device has stopped must not wait for ever";
  EXPECT_EQ(gpu.statistics().rejected.stopped, 1u);
  EXPECT_EQ(gpu.statistics().rejected.stale_data, 1u);
}

TEST(mailbox, makes_callers_wait_when_full_if_configured) {
  for (auto where : {isolation::process, isolation::thread}) {
    tally answers;
    runtime rt;
    const device gpu =
        rt.open_device(with_test_engines({.isolation = where, .mailbox_capacity = 4, .when_full = when_full::wait}));
    const auto x = gpu.alloc<float>(100);
    gpu.fill(x, 0.0f);
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 250; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 100}));
      });
    }
    for (auto& c : callers) c.join();
    answers.await_all();
    EXPECT_EQ(answers.fine(), 1000);
    EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(100, 1000.0f));
  }
}

TEST(mailbox, stops_waiting_for_room_at_the_time_out) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 1, .when_full = when_full::wait}));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  EXPECT_TRUE(is_error(error_of(gpu.ask(nap{.microseconds = 0}, {.timeout = 20ms})), reaction::retry_later,
                       {"time-out", "waited for room", "full", "call_options::timeout"}));
}

TEST(mailbox, suggests_only_applicable_remedies_when_full) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 1, .when_full = when_full::wait}));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const error full = error_of(gpu.ask(nap{.microseconds = 0}, {.waits_for_room = false}));
  EXPECT_TRUE(is_error(full, reaction::retry_later, {"full", "waits_for_room", "mailbox_capacity"}));
  EXPECT_EQ(full.text().find("when_full"), std::string::npos) << full.text();
}

TEST(mailbox, stops_waiting_for_room_when_the_device_closes) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 1, .when_full = when_full::wait}));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::atomic<bool> asking{false};
  std::thread caller([&] {
    asking = true;
    EXPECT_TRUE(is_error(error_of(gpu.ask(nap{.microseconds = 0})), reaction::stopped, {"closed"}));
  });
  while (!asking) std::this_thread::yield();
  auto closed = gpu.close();
  caller.join();
  b.lift();
  EXPECT_OK(closed.get());
}

TEST(mailbox, drains_tells_without_a_caller_that_waits) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.mailbox_capacity = 16, .when_full = when_full::wait}));
  const auto x = gpu.alloc<float>(1);
  gpu.fill(x, 0.0f);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(gpu.tell(increment{.x = x, .n = 1}));
  EXPECT_EQ(gpu.download(x).get().value()[0], 1000.0f);
}

}  // namespace
}  // namespace troupe::whole
