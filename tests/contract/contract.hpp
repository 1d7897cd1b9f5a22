// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/requests.hpp>
#include <troupe/request/request_list.hpp>

#include "harness.hpp"

/// The contract that every request of every library actor fulfills. A new request joins with a struct:
///
///   struct axpy {
///     using request = blas::axpy<float>;
///     // Succeeds, on its own buffers with known content.
///     static request good(const device& gpu);
///     // Must be refused because of `bad_field`.
///     static request bad(const device& gpu);
///     static constexpr const char* bad_field = "x";
///     // After one run of good().
///     static void expect_right(const device& gpu, const request& r, const result<reply>& a);
///   };
///   using cases = testing::Types<axpy>;
///   static_assert(covers<cases, blas::all_level1>);
///   INSTANTIATE_TYPED_TEST_SUITE_P(blas, library_actor, cases);
namespace troupe::whole {

/// True if each request in a library's list has a case, with at least one of its types:
///   static_assert(covers<blas_level3_requests, blas::all_level3>);
template <class Cases, class List>
inline constexpr bool covers = false;
template <class R, class... Cases>
inline constexpr bool has_case = ((Cases::request::request_name == R::request_name) || ...);
template <class... Cases, class... R>
inline constexpr bool covers<testing::Types<Cases...>, request_list<R...>> = (has_case<R, Cases...> && ...);

/// Returns all combinations of options for workers. On a GPU, each takes a third of a second, so there are fewer.
inline std::vector<device_options> every_kind_of_device() {
  if (engine_under_test() != "host")
    return {with_test_engines(), with_test_engines({.lanes = lane_policy::pooled, .wait = wait_policy::latency}),
            with_test_engines({.isolation = isolation::thread})};
  // Some cases keep a buffer of each device. Under the thread sanitizer, there are not enough addresses for devices
  // that may use all of a large machine's memory, which is the default.
  constexpr std::uint64_t limit = 2ull << 30;
  std::vector<device_options> out;
  for (auto where : {isolation::process, isolation::thread})
    for (auto wait : {wait_policy::latency, wait_policy::balanced, wait_policy::efficient})
      for (auto lanes : {lane_policy::per_actor, lane_policy::pooled, lane_policy::single})
        out.push_back(with_test_engines(
            {.isolation = where, .memory_limit = limit, .host_memory_limit = limit, .lanes = lanes, .wait = wait}));
  return out;
}
inline std::vector<device_options> both_isolations() {
  return {with_test_engines({.isolation = isolation::process}), with_test_engines({.isolation = isolation::thread})};
}
inline std::string describe(const device_options& o) {
  const char* const lanes[] = {"per_actor", "pooled", "single"};
  return std::string(o.isolation == isolation::process ? "process, " : "thread, ") + std::string(to_string(o.wait)) +
         ", " + lanes[static_cast<int>(o.lanes)];
}

/// Returns the content of `operand`'s memory.
template <class T, access_mode M>
std::vector<T> content(const device& gpu, const operand<T, M>& operand) {
  return gpu.download(buffer<T>(operand.range())).get().value();
}

/// Calls `f(place, range, mode)` for each operand of a request, including those in lists and factors in memory.
template <class R, class F>
void for_each_operand(const R& r, F&& f) {
  R::visit_fields(r, [&](std::string_view, const auto&... field) {
    const auto look = [&]<class Field>(const Field& x) {
      if constexpr (operands_in<Field>::any)
        operands_in<Field>::visit(x, [&](const void* place, const memory_range& range, std::uint64_t,
                                         access_mode mode) { f(place, range, mode); });
    };
    (look(field), ...);
  });
}

template <class R>
std::size_t operand_count(const R& r) {
  std::size_t n = 0;
  for_each_operand(r, [&](auto&&...) { ++n; });
  return n;
}

/// Returns which operands the request reads, given its other fields: an inout operand is not read if it is replaced.
template <class R>
std::vector<std::size_t> inputs_of(const R& r) {
  const block* any = nullptr;
  for_each_operand(r, [&](const void*, const memory_range& range, access_mode) { any = range.owner.get(); });
  std::vector<std::size_t> out;
  if (any == nullptr) return out;
  checker check(r, any->owner, any->generation);
  if constexpr (requires { r.check(check); }) r.check(check);
  EXPECT_FALSE(check.finish());
  for (std::size_t i = 0; i < check.uses().size(); ++i)
    if (const memory_access& a = check.uses()[i].touched; a.mode != access_mode::write && a.begin != a.end)
      out.push_back(i);
  return out;
}

template <class Actor>
class library_actor : public testing::Test {
 protected:
  using request = typename Actor::request;
};
TYPED_TEST_SUITE_P(library_actor);

TYPED_TEST_P(library_actor, answers_right_on_every_kind_of_device) {
  for (const device_options& o : every_kind_of_device()) {
    SCOPED_TRACE(describe(o));
    runtime rt;
    const device gpu = rt.open_device(o);
    const auto r = TypeParam::good(gpu);
    const auto answer = gpu.ask(r).get();
    ASSERT_OK(answer);
    TypeParam::expect_right(gpu, r, answer);
  }
}

TYPED_TEST_P(library_actor, answers_each_request_once_when_many_threads_ask) {
  for (const device_options& o : every_kind_of_device()) {
    SCOPED_TRACE(describe(o));
    constexpr int threads = 4, rounds = 20;
    tally answers;
    runtime rt;
    const device gpu = rt.open_device(o);
    std::vector<std::thread> callers;
    for (int t = 0; t < threads; ++t) {
      callers.emplace_back([&] {
        const auto warm = TypeParam::good(gpu);
        for (int i = 1; i < rounds; ++i) answers.watch(gpu.ask(warm));
        const auto last = TypeParam::good(gpu);
        const auto answer = gpu.ask(last).get();
        EXPECT_OK(answer);
        if (answer) TypeParam::expect_right(gpu, last, answer);
      });
    }
    for (auto& c : callers) c.join();
    EXPECT_OK(gpu.close().get());
    answers.await_all();
    EXPECT_EQ(answers.fine(), threads * (rounds - 1));
    EXPECT_EQ(answers.answered(), answers.expected());
    EXPECT_EQ(gpu.statistics().depth, 0u);
  }
}

TYPED_TEST_P(library_actor, refuses_a_bad_shape_by_field_without_affecting_other_requests) {
  for (const device_options& o : both_isolations()) {
    SCOPED_TRACE(describe(o));
    runtime rt;
    const device gpu = rt.open_device(o);
    const auto bystander = TypeParam::good(gpu);
    EXPECT_TRUE(is_error(error_of(gpu.ask(TypeParam::bad(gpu))), reaction::caller_bug,
                         {name_of<typename TypeParam::request>().data(), TypeParam::bad_field, "expected"}));
    const accepted sent = gpu.tell(TypeParam::bad(gpu));
    EXPECT_FALSE(sent);
    const auto answer = gpu.ask(bystander).get();
    ASSERT_OK(answer);
    TypeParam::expect_right(gpu, bystander, answer);
  }
}

TYPED_TEST_P(library_actor, refuses_empty_and_moved_from_buffers_by_field) {
  using request = typename TypeParam::request;
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  auto r = TypeParam::good(gpu);
  const std::size_t count = operand_count(r);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = 0;
    std::string name;
    memory_range* emptied = nullptr;
    for_each_operand(r, [&](const void* place, const memory_range& range, access_mode) {
      if (at++ != i) return;
      name = field_name<request>(&r, place);
      emptied = const_cast<memory_range*>(&range);  // points into our own request
    });
    const memory_range before = std::exchange(*emptied, {});
    if (operand_count(r) == count) {  // a number without memory is given by value
      EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug, {name.c_str(), "empty buffer", "alloc"}));
    }
    *emptied = before;
  }
}

TYPED_TEST_P(library_actor, refuses_stale_inputs_with_their_cause) {
  for (const device_options& o : both_isolations()) {
    SCOPED_TRACE(describe(o));
    runtime rt;
    const device gpu = rt.open_device(o);
    for (const std::size_t wanted : inputs_of(TypeParam::good(gpu))) {
      SCOPED_TRACE(wanted);
      const auto r = TypeParam::good(gpu);  // afresh, because a refused request makes its outputs stale
      ASSERT_OK(gpu.sync().get());
      std::size_t at = 0;
      for_each_operand(r, [&](const void*, const memory_range& range, access_mode) {
        if (at++ != wanted) return;
        const buffer<std::byte> bytes(range);
        const memory::fill impossible{.target = bytes, .bytes = -1, .pattern = {}, .pattern_bytes = 1};
        EXPECT_TRUE(is_error(error_of(gpu.ask(impossible)), reaction::caller_bug, {"bytes"}));
        EXPECT_FALSE(bytes.readable());
        EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug,
                             {"memory.fill", "bytes", name_of<typename TypeParam::request>().data()}));
      });
    }
  }
}

TYPED_TEST_P(library_actor, refuses_buffers_of_another_or_closed_device) {
  runtime rt;
  const device one = rt.open_device(with_test_engines()), other = rt.open_device(with_test_engines());
  const auto r = TypeParam::good(other);
  const bool has_operands = operand_count(r) != 0;
  if (has_operands) {
    EXPECT_TRUE(is_error(error_of(one.ask(r)), reaction::caller_bug, {"belongs to another device"}));
  }
  const auto fresh = TypeParam::good(other);
  EXPECT_OK(other.close().get());
  EXPECT_TRUE(is_error(error_of(other.ask(fresh)), reaction::stopped, {"closed"}));
  if (has_operands) {
    EXPECT_TRUE(is_error(error_of(one.ask(fresh)), reaction::caller_bug, {"another device"}));
  }
}

TYPED_TEST_P(library_actor, answers_every_request_once_when_the_worker_is_killed) {
  tally answers;
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto r = TypeParam::good(gpu);
  ASSERT_OK(gpu.sync().get());
  for (int i = 0; i < 200; ++i) answers.watch(gpu.ask(r));
  kill_worker(gpu);
  for (int i = 0; i < 200; ++i) answers.watch(gpu.ask(r));  // some of these find the device stopped
  answers.await_all();
  EXPECT_EQ(answers.answered(), 400);
  EXPECT_EQ(answers.fine() + answers.failed(reaction::context_lost) + answers.failed(reaction::stopped), 400);
  EXPECT_TRUE(is_error(error_of(gpu.stopped()), reaction::context_lost, {"SIGKILL"}));
  // Another device is not affected.
  const device next = rt.open_device(with_test_engines());
  const auto again = TypeParam::good(next);
  const auto answer = next.ask(again).get();
  ASSERT_OK(answer);
  TypeParam::expect_right(next, again, answer);
}

REGISTER_TYPED_TEST_SUITE_P(library_actor, answers_right_on_every_kind_of_device,
                            answers_each_request_once_when_many_threads_ask,
                            refuses_a_bad_shape_by_field_without_affecting_other_requests,
                            refuses_empty_and_moved_from_buffers_by_field, refuses_stale_inputs_with_their_cause,
                            refuses_buffers_of_another_or_closed_device,
                            answers_every_request_once_when_the_worker_is_killed);

}  // namespace troupe::whole
