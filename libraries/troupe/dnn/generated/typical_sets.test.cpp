// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Plans typical graphs with reductions, softmax and normalizations, and compiles their kernels: each graph is one step,
// and its kernels keep all values in registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/generated/testing/compiled_for_gpu.hpp>
#include <troupe/dnn/sets/set_matches.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/planner.hpp>

namespace troupe::dnn::generated {
namespace {

using extents = std::vector<std::int64_t>;

class typical_sets : public ::testing::TestWithParam<dtype> {
 protected:
  value given(const extents& e) { return value(operand<access_mode::read>(e, GetParam())); }
  value of_floats(const extents& e) { return value(operand<access_mode::read>(e, dtype::f32)); }
  value labels(const extents& e) { return value(operand<access_mode::read>(e, dtype::i32)); }
  written to(const value& v) {
    return {v, operand<access_mode::write>(extents(v.extents().begin(), v.extents().end()), GetParam())};
  }
  written to_floats(const value& v) {
    return {v, operand<access_mode::write>(extents(v.extents().begin(), v.extents().end()), dtype::f32)};
  }

  // Returns the kernels of a graph. Expects the graph to be one step.
  source source_of_graph(const std::vector<written>& all) {
    const graph g{std::span<const written>(all)};
    EXPECT_FALSE(g.refused());
    std::vector<std::uint64_t> words((g.encoded_bytes() + 7) / 8);
    g.encode(reinterpret_cast<std::byte*>(words.data()));
    const encoded_graph encoded(reinterpret_cast<const std::byte*>(words.data()), g.encoded_bytes());
    const std::vector<bool> aligned(encoded.memory().size(), true);
    graph_analysis analysis(encoded, aligned);
    const auto matches = sets::set_matches(analysis, {}, dtype::f32, {.operations = 48, .operands = 16});
    const step_list steps = steps_of(encoded, {}, std::vector<fusion_match>(matches.begin(), matches.end()));
    EXPECT_EQ(steps.steps.size(), 1u);
    std::vector<sets::set_kernel> kernels;
    if (!matches.empty()) kernels = sets::set_kernels_of(encoded, matches[0], std::get<fused_step>(steps.steps[0]));
    return source_of(steps, [&](const fused_step&) { return std::span(kernels); }, aligned);
  }

  void expect_one_step_without_spills(const std::vector<written>& all) {
    const source s = source_of_graph(all);
    const std::string log = testing::compiled_for_gpu(s.text, {"--ptxas-options=-v"});
    const auto count = [&](const char* text) {
      std::size_t found = 0;
      for (std::size_t at = 0; (at = log.find(text, at)) != log.npos; ++at) ++found;
      return found;
    };
    EXPECT_GE(count(" bytes spill stores"), s.kernels.size());
    EXPECT_EQ(count(" bytes spill stores"), count(", 0 bytes spill stores, 0 bytes spill loads")) << log << s.text;
  }

 private:
  template <access_mode M>
  any_operand<M> operand(const extents& e, dtype t) {
    tensor_shape s{.rank = e.size()};
    std::ranges::copy(e, s.extents.begin());
    s.strides = dense_strides(s);
    next_ += std::uint64_t{1} << 36;
    return {memory_range{{}, next_, static_cast<std::uint64_t>(elements_of(s)) * bytes_of(t)}, s, t};
  }
  std::uint64_t next_ = 0;
};

TEST_P(typical_sets, softmax_is_one_step_without_spills) {
  const extents e{4096, 4096};
  expect_one_step_without_spills({to(softmax(given(e), 1))});
  expect_one_step_without_spills({to(softmax(given(e), 0))});
  expect_one_step_without_spills({to(softmax(given({64, 21, 512}), 1))});
  expect_one_step_without_spills({to(softmax_gradient(given(e), given(e), 1))});
  expect_one_step_without_spills({to(softmax(given({4096, 4095}), 1))});
  expect_one_step_without_spills({to_floats(log_softmax(given({128, 128'256}), 1))});
  expect_one_step_without_spills(
      {to(softmax(select(given({1, 1, 512, 512}), 0.125 * given({8, 16, 512, 512}), -1e9), 3))});
}

TEST_P(typical_sets, reductions_are_one_step_without_spills) {
  using enum reduction_kind;
  const extents e{4096, 4096};
  for (const reduction_kind k : {sum, maximum, norm2}) {
    expect_one_step_without_spills({to(reduce(given(e), k, {1}))});
    expect_one_step_without_spills({to(reduce(given(e), k, {0}))});
    expect_one_step_without_spills({to(reduce(given(e), k, {0, 1}))});
    expect_one_step_without_spills({to(reduce(given({100'000, 3, 16}), k, {1}))});
  }
  expect_one_step_without_spills({to_floats(reduce(given({64, 256, 56, 56}), mean, {0, 2, 3}))});
  const value p = softmax(given(e), 1), loss = reduce(p * log(p + 1e-6), sum, {1});
  expect_one_step_without_spills({to(p), to_floats(-1.0 * loss)});
}

TEST_P(typical_sets, cross_entropy_and_its_gradient_are_one_step_without_spills) {
  const value x = given({4096, 32'000}), loss = cross_entropy(x, labels({4096, 1}), 1);
  expect_one_step_without_spills({to_floats(loss)});
  const value total = reduce(loss, reduction_kind::sum, {0, 1});
  expect_one_step_without_spills({to_floats(loss), to(gradients(total, {x})[0])});
}

TEST_P(typical_sets, normalizations_are_one_step_without_spills) {
  const extents image{64, 256, 56, 56}, channel{1, 256, 1, 1}, e{4096, 4095}, row{1, 4095}, column{4096, 1};
  const affine of_channel{of_floats(channel), of_floats(channel)}, of_row{given(row), given(row)};
  expect_one_step_without_spills({to(relu(group_norm(given(image), 32, 1e-5, of_channel).y))});
  const auto batch = batch_norm(given(image), 1e-5, of_channel);
  expect_one_step_without_spills({to(relu(batch.y)), to_floats(batch.mean), to_floats(batch.inverse_deviation)});
  const normalized of_images{given(image), of_floats(channel), of_floats(channel)};
  const auto g = normalization_gradient(given(image), of_images.y, of_images, of_channel.scale);
  expect_one_step_without_spills({to(g.dx), to_floats(g.dscale), to_floats(g.doffset)});

  const value x = given(e) + given(e);
  const auto layer = layer_norm(x, 1, 1e-5, of_row);
  expect_one_step_without_spills({to(x), to(layer.y), to_floats(layer.mean), to_floats(layer.inverse_deviation)});
  const normalized of_rows{given(e), of_floats(column), of_floats(column)};
  const auto d = normalization_gradient(given(e), of_rows.y, of_rows, of_row.scale);
  expect_one_step_without_spills({to(d.dx), to_floats(d.dscale), to_floats(d.doffset)});
}

TEST_P(typical_sets, graphs_with_other_extents_and_numbers_have_the_same_kernels) {
  const auto text = [&](std::int64_t rows, std::int64_t width, double factor) {
    const value x = given({rows, width}), bias = given({1, width});
    const source elements = source_of_graph({to(relu(x * factor + bias))}),
                 of_sets = source_of_graph({to(softmax(x * factor + bias, 1))});
    return elements.text + of_sets.text;
  };
  const std::string one = text(64, 3984, 0.5);  // widths that do not fill all threads
  EXPECT_EQ(text(2, 3976, 0.25), one);
  EXPECT_EQ(text(777, 4000, -3), one);
  for (std::int64_t rows = 3; rows < 600; rows += 7) EXPECT_EQ(text(rows, 3992, 1.0 / static_cast<double>(rows)), one);
}

INSTANTIATE_TEST_SUITE_P(, typical_sets, ::testing::Values(dtype::bf16, dtype::f32),
                         [](const auto& i) { return std::string(to_string(i.param)); });

}  // namespace
}  // namespace troupe::dnn::generated
