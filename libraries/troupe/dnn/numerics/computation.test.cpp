// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests the options of dnn.computation on both engines.
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_request_options : public dnn_numerics {
 protected:
  // Returns a graph that every engine computes in several steps, with a buffer between them.
  computation two_steps() {
    const value x = given(dtype::f32, {8, 8}), w = given(dtype::f32, {8, 8});
    stored_tensor& y = stored(dtype::f16, {8, 8});
    return {.graph = {{softmax(transpose(product(x, w), {1, 0}), 1), y.operand<access_mode::write>()}}};
  }
  std::string refusal(const computation& r) {
    const auto done = engine->run(r);
    return done ? "" : done.error().text();
  }
};

TEST_F(dnn_request_options, with_any_options_results_have_the_requested_precision) {
  for (const precision p : {precision::exact, precision::tf32})
    for (const repeatability a : {repeatability::always, repeatability::not_needed})
      for (const choice c : {choice::recommended, choice::measured}) {
        computation r = two_steps();
        r.options.precision = p, r.options.repeatability = a, r.options.choice = c;
        expect_computed(r, p == precision::exact ? 1e-4 : 1e-2);
      }
}

TEST_F(dnn_request_options, a_graph_of_two_steps_is_refused_if_fusion_is_required) {
  computation r = two_steps();
  r.options.fusion = fusion::required;
  EXPECT_NE(refusal(r).find("dnn.computation: fusion is required"), std::string::npos) << refusal(r);
  const value x = given(dtype::f32, {50});
  r.graph = {{tanh(x) * x, stored(dtype::f32, {50}).operand<access_mode::write>()}};
  expect_computed(r, 1e-5);
}

TEST_F(dnn_request_options, a_workspace_that_is_too_small_is_refused) {
  computation r = two_steps();
  const auto needs = engine->run(prepare{r});
  ASSERT_TRUE(needs);
  ASSERT_GT(*needs, 0u);
  r.options.workspace = *needs - 1;
  EXPECT_NE(refusal(r).find("dnn.computation: workspace is"), std::string::npos) << refusal(r);
  r.options.workspace = *needs;
  expect_computed(r, 1e-4);
}

}  // namespace
}  // namespace troupe::dnn
