// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <troupe/base/result.hpp>

namespace troupe {
namespace {

result<int> parse(bool good) {
  if (good) return 7;
  return error(reaction::caller_bug, "test", "field n is 0: give at least 1");
}

TEST(result, holds_a_value_or_an_error) {
  EXPECT_EQ(*parse(true), 7);
  const auto bad = parse(false);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(bad.error().text(), "field n is 0: give at least 1");
}

static_assert(std::is_copy_constructible_v<result<int>> && std::is_copy_assignable_v<result<int>>);
static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
static_assert(!std::is_copy_assignable_v<result<std::unique_ptr<int>>>);
static_assert(std::is_move_assignable_v<result<std::unique_ptr<int>>>);

TEST(result, value_throws_the_error_it_holds) {
  EXPECT_EQ(parse(true).value(), 7);
  try {
    (void)parse(false).value();
    FAIL() << "no exception";
  } catch (const bad_result& e) {
    EXPECT_STREQ(e.what(), "caller_bug [test]: field n is 0: give at least 1");
  }
}

TEST(result, assignment_crosses_between_value_and_error) {
  result<std::string> r = std::string("a long enough string to live on the heap");
  r = error(reaction::stopped, "test", "closed");
  EXPECT_FALSE(r);
  r = std::string("back");
  EXPECT_EQ(*r, "back");
  const result<std::string> copy = r;
  EXPECT_EQ(*copy, "back");
}

TEST(result, void_results_carry_errors_too) {
  result<void> ok;
  EXPECT_TRUE(ok);
  ok = error(reaction::fatal, "test", "broken");
  EXPECT_THROW(ok.value(), bad_result);
  ok = {};
  EXPECT_TRUE(ok);
}

TEST(error, text_names_code_request_and_the_chain_it_came_through) {
  const error e(error::details{.reaction = reaction::unsupported,
                               .domain = "blas",
                               .code = 15,
                               .text = "no",
                               .request = {"blas.gemm<f32>", 42},
                               .chain = {{"blas.axpy<f32>", 43}}});
  EXPECT_EQ(e.to_string(), "unsupported [blas, code 15] blas.gemm<f32> #42: no (reached through blas.axpy<f32> #43)");
}

TEST(error, text_names_the_request_once_and_no_ticket_that_was_never_given) {
  const error e(error::details{.reaction = reaction::caller_bug,
                               .domain = "request",
                               .text = "memory.upload: target holds 8 bytes",
                               .request = {"memory.upload", 0},
                               .chain = {{"memory.copy", 0}, {"memory.download", 3}}});
  EXPECT_EQ(e.to_string(),
            "caller_bug [request] memory.upload: target holds 8 bytes (reached through memory.copy, memory.download "
            "#3)");
}

TEST(error, text_counts_neighbours_of_one_name_in_the_chain) {
  error::details d{.reaction = reaction::unsupported, .domain = "test", .text = "no", .request = {"a", 1}};
  d.chain = {
      {"blas.axpy<f32>", 2}, {"blas.axpy<f32>", 3}, {"blas.axpy<f32>", 5}, {"memory.copy", 6}, {"b", 0}, {"b", 0}};
  EXPECT_EQ(
      error(d).to_string(),
      "unsupported [test] a #1: no (reached through blas.axpy<f32> #2 to #5 (3 times), memory.copy #6, b (2 times))");
}

TEST(error, text_says_that_a_chain_may_be_longer_than_is_known) {
  error e(error::details{.reaction = reaction::unsupported, .domain = "test", .text = "no", .request = {"a", 1}});
  for (std::uint64_t ticket = 2; ticket < 2 + max_chain - 1; ++ticket) e = e.passed_on_to({"b", ticket});
  EXPECT_EQ(e.to_string(), "unsupported [test] a #1: no (reached through b #2 to #16 (15 times))");
  for (std::uint64_t ticket = 17; ticket < 100; ++ticket) e = e.passed_on_to({"b", ticket});
  EXPECT_EQ(e.chain().size(), max_chain);
  EXPECT_EQ(e.to_string(), "unsupported [test] a #1: no (reached through b #2 to #17 (16 times), …)");
}

TEST(error, that_names_no_request_becomes_that_of_the_first_it_reaches) {
  const error e = error(reaction::stopped, "device", "closed").passed_on_to({"blas.scal<f64>", 0});
  EXPECT_EQ(e.to_string(), "stopped [device] blas.scal<f64>: closed");
  EXPECT_EQ(e.passed_on_to({"memory.download", 7}).to_string(),
            "stopped [device] blas.scal<f64>: closed (reached through memory.download #7)");
}

}  // namespace
}  // namespace troupe
