// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/epilogue.hpp>
#include <troupe/graph/graph.hpp>

#include "contract.hpp"

/// The tests that the libraries for products share. A library joins with a struct:
///
///   struct of_matmul {
///     using request = matmul::multiplication;
///     using statistics = matmul::read_statistics;
///     // Calls the function that sends a request and does not wait.
///     template <class... A>
///     static accepted multiply(const device& gpu, const A&... arguments);
///   };
///   INSTANTIATE_TYPED_TEST_SUITE_P(matmul, products, of_matmul);
namespace troupe::whole {

template <class Library>
class products : public testing::Test {
 protected:
  using request = typename Library::request;
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.restarts = 100}));
  matrix<float> uploaded(const std::vector<float>& four) { return {gpu.upload(four), 2, 2}; }
  matrix<float> allocated() { return {gpu.alloc<float>(4), 2, 2}; }
  std::vector<float> content(const matrix<float>& m) { return gpu.download(m.memory()).get().value(); }
};
TYPED_TEST_SUITE_P(products);

TYPED_TEST_P(products, feed_each_other_in_a_chain_and_pass_errors_on) {
  const auto x = this->uploaded({1, 2, 3, 4}), w = this->uploaded({0, 1, 1, 0}), h = this->allocated(),
             y = this->allocated();
  EXPECT_TRUE(TypeParam::multiply(this->gpu, h, x, w, 2 * epilogue::acc));
  EXPECT_TRUE(TypeParam::multiply(this->gpu, y, h, w, epilogue::acc + epilogue::load(x)));
  EXPECT_EQ(this->content(y), (std::vector<float>{3, 6, 9, 12}));
  const accepted wrong = TypeParam::multiply(this->gpu, h, x, matrix(w.memory(), 1, 4));
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {TypeParam::request::request_name.data(), "b is 1 x 4"}));
  EXPECT_FALSE(TypeParam::multiply(this->gpu, y, h, w)) << "h is stale: it was to be written by the refused request";
}

TYPED_TEST_P(products, may_be_given_away_in_place_and_under_call_options) {
  const auto x = this->uploaded({1, 2, 3, 4}), d = this->uploaded({1, 1, 1, 1});
  EXPECT_TRUE(TypeParam::multiply(this->gpu, d, x, x, epilogue::acc + epilogue::load(d)));
  EXPECT_EQ(this->content(d), (std::vector<float>{8, 11, 16, 23}));
  EXPECT_FALSE(TypeParam::multiply(this->gpu, d, x, x, epilogue::acc, typename TypeParam::options{},
                                   call_options{.timeout = time_span{}}));
}

TYPED_TEST_P(products, have_plans_that_are_counted) {
  const auto x = this->uploaded({1, 2, 3, 4}), d = this->allocated();
  EXPECT_OK(this->gpu.ask(typename TypeParam::statistics{.start_anew = true}).get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(TypeParam::multiply(this->gpu, d, x, x));
  const auto counted = this->gpu.ask(typename TypeParam::statistics{}).get();
  ASSERT_OK(counted);
  EXPECT_LE(counted->made, 1u);
}

TYPED_TEST_P(products, share_a_factor_in_batches) {
  const tensor a(this->gpu.upload(std::vector<float>{1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3}), {3, 2, 2});
  const tensor d(this->gpu.template alloc<float>(12), {3, 2, 2});
  EXPECT_TRUE(TypeParam::multiply(this->gpu, d, a, this->uploaded({1, 2, 3, 4})));
  EXPECT_EQ(this->gpu.download(d.memory()).get().value(), (std::vector<float>{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}));
}

TYPED_TEST_P(products, are_recorded_in_graphs_and_rebound) {
  const auto x = this->uploaded({1, 2, 3, 4}), other = this->uploaded({10, 20, 30, 40}), d = this->allocated();
  const auto bias = this->gpu.upload(std::vector<float>{1, 2}), more = this->gpu.upload(std::vector<float>{100, 200});
  graph::recorder rec(this->gpu);
  ASSERT_TRUE(
      rec.add(typename TypeParam::request{.a = x, .b = x, .d = d, .epilogue = epilogue::acc + epilogue::row(bias)}));
  const graph::graph g = rec.finish();
  this->gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(this->content(d), (std::vector<float>{8, 12, 16, 24}));
  EXPECT_OK(g.rebind(x.memory(), other.memory()));
  EXPECT_OK(g.rebind(bias, more));
  this->gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(this->content(d), (std::vector<float>{800, 1200, 1600, 2400}));
}

REGISTER_TYPED_TEST_SUITE_P(products, feed_each_other_in_a_chain_and_pass_errors_on,
                            may_be_given_away_in_place_and_under_call_options, have_plans_that_are_counted,
                            share_a_factor_in_batches, are_recorded_in_graphs_and_rebound);

}  // namespace troupe::whole
