// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks requests that CUTLASS's kernels compute: in graphs, on several lanes, and after faults.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using cutlass::decision;

constexpr std::int64_t side = 128, terms = 512;

class cutlass_vendor_kernels : public testing::Test {
 protected:
  void SetUp() override {
    const auto first = gpu.ask(cutlass::prepare{product(1)}).get();
    if (first) return;
    const std::string text = first.error().text();
    if (engine_under_test() == "host")
      EXPECT_NE(text.find("the host engine has no choices"), text.npos) << text;
    else
      EXPECT_NE(text.find("the CUTLASS plug-in cannot be loaded"), text.npos) << text;
    GTEST_SKIP() << text;
  }
  template <class T = bfloat16>
  buffer<T> all(std::int64_t count, float value) const {
    return gpu.upload(std::vector<T>(static_cast<std::size_t>(count), T(value)));
  }
  // Returns the product of a matrix whose elements are `value` and a matrix of ones.
  cutlass::gemm product(float value, const cutlass::plan& p = {.family = cutlass::family::vendor}) const {
    return {.a = matrix(all(side * terms, value), side, terms),
            .b = matrix(all(side * terms, 1), side, terms).transposed(),
            .d = matrix(gpu.alloc<bfloat16>(side * side), side, side),
            .options = {.plan = p}};
  }
  // Returns the element of the result if all elements are equal, otherwise NaN.
  float result_of(const cutlass::gemm& r) const {
    const auto got = gpu.download(buffer<bfloat16>(r.d.range())).get();
    EXPECT_OK(got);
    for (const bfloat16 x : *got)
      if (static_cast<float>(x) != static_cast<float>(got->front())) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(got->front());
  }

  runtime rt;
  device gpu = rt.open_device(with_test_engines({.lanes = lane_policy::pooled, .restarts = 100}));
};

TEST_F(cutlass_vendor_kernels, a_recorded_product_can_be_rebound_and_launched_again) {
  for (const decision divided : {decision::no, decision::yes}) {
    const auto r = product(2, {.family = cutlass::family::vendor, .divided = divided});
    graph::recorder rec(gpu);
    ASSERT_TRUE(rec.add(r)) << "the kernel was not launched before";
    const graph::graph g = rec.finish();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(gpu.tell(graph::launch{.graph = g}));
    EXPECT_EQ(result_of(r), 2.0f * terms);
    EXPECT_OK(g.rebind(buffer<bfloat16>(r.a.range()), all(side * terms, -3)));
    ASSERT_TRUE(gpu.tell(graph::launch{.graph = g}));
    EXPECT_EQ(result_of(r), -3.0f * terms);
  }
}

TEST_F(cutlass_vendor_kernels, a_recorded_convolution_can_be_launched_again) {
  const auto images = [](const buffer<half>& b, std::int64_t channels, std::int64_t pixels) {
    return tensor(b, {1, pixels, pixels, channels}).permuted({0, 3, 1, 2});
  };
  const auto result = gpu.alloc<half>(4 * 4 * 8);
  const cutlass::conv_forward convolution{.x = images(all<half>(4 * 4 * 16, 1), 16, 4),
                                          .filters = tensor(all<half>(8 * 16, 3), {8, 1, 1, 16}).permuted({0, 3, 1, 2}),
                                          .y = images(result, 8, 4),
                                          .options = {.plan = {.family = cutlass::family::vendor}}};
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(convolution));
  const graph::graph g = rec.finish();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(gpu.tell(graph::launch{.graph = g}));
  const auto convolved = gpu.download(result).get();
  ASSERT_OK(convolved);
  for (const half x : *convolved) ASSERT_EQ(static_cast<float>(x), 48.0f);
}

TEST_F(cutlass_vendor_kernels, rows_outside_all_groups_keep_their_content) {
  const auto d = all(side * side, 7);
  const cutlass::gemm_grouped groups{.a = matrix(all(side * terms, 2), side, terms),
                                     .b = tensor(all(3 * side * terms, 1), {3, side, terms}).permuted({0, 2, 1}),
                                     .d = matrix(d, side, side),
                                     .sizes = gpu.upload(std::vector<std::int32_t>{100, 0, 27}),
                                     .options = {.plan = {.family = cutlass::family::vendor}}};
  const auto outcome = gpu.ask(groups).get();
  ASSERT_OK(outcome);
  EXPECT_FALSE(cutlass::error_of(*outcome));
  const auto got = gpu.download(d).get();
  ASSERT_OK(got);
  for (std::int64_t i = 0; i < side; ++i)
    ASSERT_EQ(static_cast<float>((*got)[static_cast<std::size_t>(i * side)]), i < 127 ? 2.0f * terms : 7.0f) << i;
}

TEST_F(cutlass_vendor_kernels, products_on_several_lanes_are_right) {
  std::vector<cutlass::gemm> many;
  std::vector<pending<void>> sent;
  for (int i = 0; i < 48; ++i)
    many.push_back(product(static_cast<float>(i % 8),
                           {.family = cutlass::family::vendor, .divided = i % 2 == 0 ? decision::yes : decision::no}));
  for (int round = 0; round < 4; ++round)
    for (const cutlass::gemm& r : many) sent.push_back(gpu.ask(r));
  for (auto& p : sent) ASSERT_OK(p.get());
  for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(result_of(many[i]), static_cast<float>(i % 8) * terms) << i;
}

TEST_F(cutlass_vendor_kernels, products_are_right_after_a_worker_is_replaced) {
  for (int i = 0; i < 2; ++i) {
    const auto r = product(2);
    ASSERT_OK(gpu.ask(r).get());
    EXPECT_EQ(result_of(r), 2.0f * terms);
    if (i == 0) replace_worker(gpu);
  }
}

}  // namespace
}  // namespace troupe::whole
