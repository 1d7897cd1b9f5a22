// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests the CUDA engine on a fake driver, which runs its kernels on the host. The suites of numerics/ test most
// results.
#include <troupe/dnn/testing/numerics.hpp>

const char* troupe::numerics::engine_of_program() { return TROUPE_ENGINE_UNDER_TEST; }

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_cuda : public dnn_numerics {};

TEST_F(dnn_cuda, graphs_with_more_operations_than_one_elementwise_kernel_allows_match_the_definition) {
  value x = given(dtype::f32, {3, 5});
  for (int i = 0; i < 120; ++i) x = x * 0.5 + given(dtype::f32, {1, 5});
  expect_as_defined({x}, dtype::f32, 1e-6);
  value y = given(dtype::f32, {3, 5});
  std::vector<value> all;
  for (int i = 0; i < 70; ++i) all.push_back(y = tanh(y));
  expect_as_defined(all, dtype::f32, 1e-5);
}

TEST_F(dnn_cuda, products_of_many_tiles_match_the_definition) {
  expect_as_defined({product(given(dtype::f32, {3, 450, 17}), given(dtype::f32, {3, 17, 449}))}, dtype::f32, 1e-5);
}

TEST_F(dnn_cuda, channels_last_tensors_are_normalized_without_copies) {
  const extents e{4, 16, 32, 32}, channel{1, 16, 1, 1};
  const value x = given(dtype::bf16, e, channels_last), dy = given(dtype::bf16, e, channels_last);
  const affine a{given(dtype::f32, channel), given(dtype::f32, channel)};
  const normalized n{x, given(dtype::f32, channel), given(dtype::f32, channel)};
  for (const value& v : {value(batch_norm(x, 1e-3, a).y), value(normalization_gradient(dy, x, n, a.scale).dx)}) {
    const computation r{.graph = {{v, stored(dtype::bf16, e, channels_last).operand<access_mode::write>()}}};
    const auto needs = engine->run(prepare{r});
    ASSERT_TRUE(needs);
    EXPECT_LT(*needs, 4u * 16 * 32 * 32 * 2);
    expect_computed(r, 1e-3);
  }
}

TEST_F(dnn_cuda, a_workspace_limit_below_the_reply_of_prepare_is_refused) {
  const value x = given(dtype::f32, {8, 8});
  stored_tensor& to = stored(dtype::f16, {8, 8});
  computation r{.graph = {{softmax(softmax(transpose(x, {1, 0}), 1), 0), to.operand<access_mode::write>()}}};
  const auto needs = engine->run(prepare{r});
  ASSERT_TRUE(needs);
  EXPECT_GT(*needs, 0u);
  r.options.workspace = *needs - 1;
  const auto refused = engine->run(r);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("workspace is"), std::string::npos) << refused.error().text();
  r.options.workspace = *needs;
  EXPECT_TRUE(engine->run(r));
}

TEST_F(dnn_cuda, functions_before_and_after_reductions_of_the_same_sets_are_one_step) {
  const extents e{6, 40};
  const value x = given(dtype::bf16, e), bias = given(dtype::f32, {1, 40}), seen = given(dtype::u8, e);
  const value scores = select(seen, 0.5 * x + bias, -1e9), p = softmax(scores, 1);
  const value loss = reduce(p * log(p + 1e-6), reduction_kind::sum, {1});
  computation r{.graph = {{convert(p, dtype::f16), stored(dtype::f16, e).operand<access_mode::write>()},
                          {-1.0 * loss, stored(dtype::f32, {6, 1}).operand<access_mode::write>()}}};
  r.options.fusion = fusion::required;
  EXPECT_EQ(engine->run(prepare{r}).value(), 0u);
  expect_computed(r, 2e-3);
}

TEST_F(dnn_cuda, functions_before_and_after_a_normalization_of_rows_are_one_step) {
  const extents e{6, 64}, row{1, 64};
  const value sum = given(dtype::bf16, e) + given(dtype::bf16, e);
  const value y = relu(layer_norm(sum, 1, 1e-5, affine{given(dtype::f32, row), given(dtype::f32, row)}).y);
  computation r{.graph = {{convert(sum, dtype::bf16), stored(dtype::bf16, e).operand<access_mode::write>()},
                          {y, stored(dtype::bf16, e).operand<access_mode::write>()}}};
  r.options.fusion = fusion::required;
  EXPECT_EQ(engine->run(prepare{r}).value(), 0u);
  expect_computed(r, 2e-3);
}

TEST_F(dnn_cuda, each_workspace_limit_has_its_own_plan) {
  // With enough workspace for partial sums of the columns, a stored-type kernel computes the gradients.
  const extents e{64, 1024}, row{1, 1024}, column{64, 1};
  const value scale = given(dtype::f32, row, dense);
  const normalized n{given(dtype::f32, e, dense), given(dtype::f32, column, dense), given(dtype::f32, column, dense)};
  const auto g = normalization_gradient(given(dtype::f32, e, dense), n.y, n, scale);
  computation r{.graph = {{g.dx, stored(dtype::f32, e, dense).operand<access_mode::write>()},
                          {g.dscale, stored(dtype::f32, row, dense).operand<access_mode::write>()},
                          {g.doffset, stored(dtype::f32, row, dense).operand<access_mode::write>()}}};
  const auto needs = [&](std::uint64_t workspace) {
    r.options.workspace = workspace;
    return engine->run(prepare{r}).value();
  };
  const std::uint64_t most = any_workspace, fast = needs(most), slow = needs(fast - 1);
  EXPECT_LT(slow, fast);
  EXPECT_EQ(needs(fast - 1), slow);
  EXPECT_EQ(needs(most), fast);
}

}  // namespace
}  // namespace troupe::dnn
