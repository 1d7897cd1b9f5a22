// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <troupe/base/try.hpp>

namespace troupe {
namespace {

result<int> parse(bool good) {
  if (good) return 7;
  return error(reaction::caller_bug, "test", "field n is 0; expected at least 1");
}

TEST(result, holds_a_value_or_an_error) {
  EXPECT_EQ(*parse(true), 7);
  const auto bad = parse(false);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(bad.error().text(), "field n is 0; expected at least 1");
}

static_assert(std::is_copy_constructible_v<result<int>> && std::is_copy_assignable_v<result<int>>);
static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
static_assert(!std::is_copy_assignable_v<result<std::unique_ptr<int>>>);
static_assert(std::is_move_assignable_v<result<std::unique_ptr<int>>>);

TEST(result, value_throws_the_error_that_the_result_holds) {
  EXPECT_EQ(parse(true).value(), 7);
  try {
    (void)parse(false).value();
    FAIL() << "no exception";
  } catch (const bad_result& e) {
    EXPECT_STREQ(e.what(), "caller_bug [test]: field n is 0; expected at least 1");
  }
}

TEST(result, can_be_assigned_a_value_and_then_an_error) {
  result<std::string> r = std::string("a long enough string to live on the heap");
  r = error(reaction::stopped, "test", "closed");
  EXPECT_FALSE(r);
  r = std::string("back");
  EXPECT_EQ(*r, "back");
  const result<std::string> copy = r;
  EXPECT_EQ(*copy, "back");
}

TEST(result, a_result_of_void_holds_success_or_an_error) {
  result<void> ok;
  EXPECT_TRUE(ok);
  ok = error(reaction::fatal, "test", "broken");
  EXPECT_THROW(ok.value(), bad_result);
  ok = {};
  EXPECT_TRUE(ok);
}

TEST(result, chains_calls_with_and_then_transform_and_or_else) {
  const auto half = [](int n) -> result<int> {
    if (n % 2 != 0) return error(reaction::caller_bug, "test", "odd");
    return n / 2;
  };
  EXPECT_EQ(*result<int>(8).and_then(half).and_then(half), 2);
  EXPECT_EQ(result<int>(6).and_then(half).and_then(half).error().text(), "odd");
  EXPECT_EQ(*result<int>(4).transform([](int n) { return std::to_string(n); }), "4");
  EXPECT_EQ(parse(false).transform([](int) { return 1; }).error().text(), "field n is 0; expected at least 1");
  EXPECT_EQ(*parse(false).or_else([](const error&) -> result<int> { return -1; }), -1);
  EXPECT_EQ(*parse(true).or_else([](const error&) -> result<int> { return -1; }), 7);
  int calls = 0;
  const auto count = [&] { ++calls; };
  EXPECT_TRUE(result<void>().transform(count));
  EXPECT_FALSE(result<void>(parse(false).error()).transform(count));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(*result<void>().and_then([] { return result<int>(3); }), 3);
  EXPECT_TRUE(result<void>(parse(false).error()).or_else([](const error&) { return result<void>(); }));
}

TEST(result, moves_its_value_through_a_chain_of_rvalues) {
  auto owner = result<std::unique_ptr<int>>(std::make_unique<int>(5));
  auto next = std::move(owner).transform([](std::unique_ptr<int> p) { return p; });
  ASSERT_TRUE(next);
  EXPECT_EQ(**next, 5);
  auto same = std::move(next).or_else([](const error& e) { return result<std::unique_ptr<int>>(e); });
  EXPECT_EQ(**same, 5);
}

result<int> sum_of(bool first, bool second) {
  const int a = TROUPE_TRY(parse(first));
  return a + TROUPE_TRY(parse(second));
}
result<void> look_at(const result<int>& r) {
  TROUPE_TRY(r);
  TROUPE_TRY(sum_of(true, true).transform([](int) {}));
  return {};
}
result<std::unique_ptr<int>> taken(result<std::unique_ptr<int>> from) { return TROUPE_TRY(std::move(from)); }

TEST(result, is_unwrapped_by_try_or_its_error_is_returned) {
  EXPECT_EQ(*sum_of(true, true), 14);
  EXPECT_EQ(sum_of(true, false).error().text(), "field n is 0; expected at least 1");
  EXPECT_FALSE(sum_of(false, true));
  EXPECT_TRUE(look_at(3));
  EXPECT_FALSE(look_at(parse(false)));
  EXPECT_EQ(**taken(std::make_unique<int>(4)), 4);
  EXPECT_FALSE(taken(parse(false).error()));
}

// Counts its living objects: temporaries of an expression must be destroyed whether or not TROUPE_TRY returns.
struct counted {
  explicit counted(int& all) : n(all) { ++n; }
  counted(const counted& o) : n(o.n) { ++n; }
  ~counted() { --n; }
  int& n;
};
int with(const counted&, const std::string& text, int value) { return value + static_cast<int>(text.size()); }
result<int> in_an_argument(int& alive, bool good) {
  return with(counted(alive), std::string(100, 'x'), TROUPE_TRY(parse(good)));
}

TEST(result, destroys_all_temporaries_when_try_returns_from_within_an_argument) {
  int alive = 0;
  EXPECT_EQ(*in_an_argument(alive, true), 107);
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(in_an_argument(alive, false));
  EXPECT_EQ(alive, 0);
}

TEST(error, text_names_the_code_the_request_and_the_chain) {
  const error e(error::details{.reaction = reaction::unsupported,
                               .domain = "blas",
                               .code = 15,
                               .text = "no",
                               .request = {"blas.gemm<f32>", 42},
                               .chain = {{"blas.axpy<f32>", 43}}});
  EXPECT_EQ(e.to_string(), "unsupported [blas, code 15] blas.gemm<f32> #42: no (reached through blas.axpy<f32> #43)");
}

TEST(error, text_names_the_request_once_and_omits_a_ticket_of_0) {
  const error e(error::details{.reaction = reaction::caller_bug,
                               .domain = "request",
                               .text = "memory.upload: target holds 8 bytes",
                               .request = {"memory.upload", 0},
                               .chain = {{"memory.copy", 0}, {"memory.download", 3}}});
  EXPECT_EQ(e.to_string(),
            "caller_bug [request] memory.upload: target holds 8 bytes (reached through memory.copy, memory.download "
            "#3)");
}

TEST(error, text_names_the_type_of_a_request_once_if_its_name_says_more) {
  const error e(error::details{.reaction = reaction::caller_bug,
                               .domain = "request",
                               .text = "jit.launch: grid is {0, 1, 1}",
                               .request = {"jit.launch scale (scale.cu)", 0}});
  EXPECT_EQ(e.to_string(), "caller_bug [request] jit.launch scale (scale.cu): grid is {0, 1, 1}");
}

TEST(error, text_counts_consecutive_requests_with_the_same_name_in_the_chain) {
  error::details d{.reaction = reaction::unsupported, .domain = "test", .text = "no", .request = {"a", 1}};
  d.chain = {
      {"blas.axpy<f32>", 2}, {"blas.axpy<f32>", 3}, {"blas.axpy<f32>", 5}, {"memory.copy", 6}, {"b", 0}, {"b", 0}};
  EXPECT_EQ(
      error(d).to_string(),
      "unsupported [test] a #1: no (reached through blas.axpy<f32> #2 to #5 (3 times), memory.copy #6, b (2 times))");
}

TEST(error, text_ends_with_an_ellipsis_if_the_chain_is_full) {
  error e(error::details{.reaction = reaction::unsupported, .domain = "test", .text = "no", .request = {"a", 1}});
  for (std::uint64_t ticket = 2; ticket < 2 + max_chain - 1; ++ticket) e = e.passed_on_to({"b", ticket});
  EXPECT_EQ(e.to_string(), "unsupported [test] a #1: no (reached through b #2 to #16 (15 times))");
  for (std::uint64_t ticket = 17; ticket < 100; ++ticket) e = e.passed_on_to({"b", ticket});
  EXPECT_EQ(e.chain().size(), max_chain);
  EXPECT_EQ(e.to_string(), "unsupported [test] a #1: no (reached through b #2 to #17 (16 times), …)");
}

TEST(error, belongs_to_the_first_request_it_reaches_if_it_names_none) {
  const error e = error(reaction::stopped, "device", "closed").passed_on_to({"blas.scal<f64>", 0});
  EXPECT_EQ(e.to_string(), "stopped [device] blas.scal<f64>: closed");
  EXPECT_EQ(e.passed_on_to({"memory.download", 7}).to_string(),
            "stopped [device] blas.scal<f64>: closed (reached through memory.download #7)");
}

}  // namespace
}  // namespace troupe
