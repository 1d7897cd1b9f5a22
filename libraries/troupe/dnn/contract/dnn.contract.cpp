// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

// relu(convolution(x, filters) + bias) of an image of 1 x 3 x 3 and one filter of 2 x 2.
struct one_convolution {
  using request = dnn::computation;
  static constexpr const char* bad_field =
      "graph has a convolution whose filters is 1 x 2 x 2 x 2, with 2 input channels; expected 1, as the image has";
  static request make(const device& gpu, extent channels) {
    const std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const tensor x(gpu.upload(image), {1, 1, 3, 3}),
        filters(gpu.upload(std::vector<float>{1, 0, 0, -1, 0, 0, 0, 0}), {1, channels, 2, 2});
    const tensor y(gpu.alloc<float>(4), {1, 1, 2, 2});
    const auto bias = gpu.upload(std::vector<float>{5});
    return {
        .graph = {write(relu(dnn::convolution(dnn::read(x), dnn::read(filters)) + dnn::channels(dnn::read(bias))), y)}};
  }
  static request good(const device& gpu) { return make(gpu, 1); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.graph.memory().back().range)).get().value(),
              (std::vector<float>{1, 1, 1, 1}));
  }
};

struct graph_preparation {
  using request = dnn::prepare;
  static constexpr const char* bad_field =
      "request.graph has a convolution whose filters is 1 x 2 x 2 x 2, with 2 input channels; expected 1, as the image "
      "has";
  static request good(const device& gpu) { return dnn::prepare{one_convolution::good(gpu)}; }
  static request bad(const device& gpu) { return dnn::prepare{one_convolution::bad(gpu)}; }
  static void expect_right(const device&, const request&, const result<std::uint64_t>& answer) { ASSERT_OK(answer); }
};

// Attention of two queries. The first attends to one key only.
struct one_attention {
  using request = dnn::computation;
  static constexpr const char* bad_field = "graph has an attention whose keys.lengths is 2; expected 1";
  static request make(const device& gpu, extent lengths) {
    const tensor q(gpu.upload(std::vector<float>{0, 0}), {1, 1, 2, 1}),
        k(gpu.upload(std::vector<float>{1, 2, 3}), {1, 1, 3, 1}),
        v(gpu.upload(std::vector<float>{4, 8, 99}), {1, 1, 3, 1});
    const tensor length(gpu.upload(std::vector<std::int32_t>{2, 2}), {lengths});
    const auto y = dnn::attention(dnn::read(q), dnn::read(k), dnn::read(v),
                                  {.window = dnn::causal, .keys = {.lengths = dnn::read(length)}});
    return {.graph = {write(y.y, tensor(gpu.alloc<float>(2), {1, 1, 2, 1}))}};
  }
  static request good(const device& gpu) { return make(gpu, 1); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.graph.memory().back().range)).get().value(), (std::vector<float>{4, 6}));
  }
};

using dnn_cases = testing::Types<one_convolution, graph_preparation, one_attention>;
INSTANTIATE_TYPED_TEST_SUITE_P(dnn, library_actor, dnn_cases);

class dnn_contract : public testing::Test {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.restarts = 100}));
  std::vector<float> ramp(int n) {
    std::vector<float> out(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = static_cast<float>(i);
    return out;
  }
};

TEST_F(dnn_contract, several_results_share_a_common_value) {
  const tensor x(gpu.upload(ramp(6)), {2, 3});
  const tensor total(gpu.alloc<float>(2), {2, 1}), twice(gpu.alloc<float>(6), {2, 3});
  const dnn::value y = dnn::read(x) * 2;
  EXPECT_TRUE(dnn::compute(gpu, {write(dnn::reduce(y, dnn::reduction_kind::sum, {1}), total), write(y, twice)}));
  EXPECT_EQ(gpu.download(total.memory()).get().value(), (std::vector<float>{6, 24}));
  EXPECT_EQ(gpu.download(twice.memory()).get().value(), (std::vector<float>{0, 2, 4, 6, 8, 10}));
}

TEST_F(dnn_contract, requests_read_earlier_results_and_inherit_their_errors) {
  const tensor x(gpu.upload(ramp(4)), {4}), y(gpu.alloc<float>(4), {4}), z(gpu.alloc<float>(4), {4});
  EXPECT_TRUE(dnn::compute(gpu, {write(dnn::read(x) + 1, y)}));
  EXPECT_TRUE(dnn::compute(gpu, {write(dnn::read(y) * dnn::read(x), z)}));
  EXPECT_EQ(gpu.download(z.memory()).get().value(), (std::vector<float>{0, 2, 6, 12}));
  const accepted wrong = dnn::compute(gpu, {write(dnn::reshape(dnn::read(x), {3}), y)});
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {"dnn.computation", "reshape", "as many elements"}));
  EXPECT_FALSE(dnn::compute(gpu, {write(dnn::read(y), z)}))
      << "y is stale: it was to be written by the refused request";
}

TEST_F(dnn_contract, a_graph_may_overwrite_its_inputs) {
  const tensor x(gpu.upload(ramp(4)), {2, 2}), y(gpu.upload(std::vector<float>{5, 5, 5, 6}), {2, 2});
  EXPECT_TRUE(dnn::compute(gpu, {write(dnn::read(x) + 1, x)}));
  EXPECT_TRUE(dnn::compute(gpu, {write(dnn::transpose(dnn::read(y), {1, 0}), x), write(dnn::read(x) * 2, y)}));
  EXPECT_EQ(gpu.download(x.memory()).get().value(), (std::vector<float>{5, 5, 5, 6}));
  EXPECT_EQ(gpu.download(y.memory()).get().value(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(dnn_contract, a_graph_that_writes_memory_that_it_reads_with_another_shape_is_refused) {
  const auto memory = gpu.upload(ramp(4));
  const tensor x(memory, {4}), y(memory, {2, 2});
  const accepted wrong = dnn::compute(gpu, {write(dnn::reshape(dnn::read(x), {2, 2}), y)});
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {"dnn.computation", "overlaps"}))
      << wrong.error().to_string();
}

TEST_F(dnn_contract, a_workspace_limit_below_the_reply_of_prepare_is_refused) {
  const tensor x(gpu.upload(ramp(4096)), {64, 64}), y(gpu.alloc<float>(4096), {64, 64});
  dnn::computation r{.graph = {write(dnn::softmax(dnn::transpose(dnn::read(x), {1, 0}), 1), y)}};
  const auto needs = gpu.ask(dnn::prepare{r}).get();
  ASSERT_OK(needs);
  r.options.workspace = *needs;
  EXPECT_OK(gpu.ask(r).get());
  if (*needs == 0) return;
  r.options.workspace = *needs - 1;
  EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::unsupported, {"workspace is"}));
}

TEST_F(dnn_contract, valid_options_are_accepted_and_invalid_options_are_refused) {
  const tensor x(gpu.upload(ramp(6)), {2, 3}), y(gpu.alloc<float>(6), {2, 3});
  dnn::computation r{.graph = {write(dnn::softmax(dnn::softmax(dnn::read(x), 0), 1), y)},
                     .options = {.fusion = dnn::fusion::required}};
  EXPECT_TRUE(
      is_error(error_of(gpu.ask(r)), reaction::unsupported, {"dnn.computation", "fusion is required", "2 steps"}));
  const tensor z(gpu.alloc<float>(6), {2, 3});  // y is stale
  r.graph = {write(dnn::softmax(dnn::tanh(dnn::read(x)), 1), z)};
  r.options.fusion = dnn::fusion::allowed;
  r.options.precision = dnn::precision::tf32, r.options.repeatability = dnn::repeatability::not_needed;
  r.options.choice = dnn::choice::measured;
  EXPECT_OK(gpu.ask(dnn::prepare{r}).get());
  EXPECT_OK(gpu.ask(r).get());
  EXPECT_OK(gpu.ask(dnn::computation{.graph = {write(dnn::tanh(dnn::read(x)), y)},
                                     .options = {.fusion = dnn::fusion::required}})
                .get());
  r.options.precision = static_cast<dnn::precision>(9);
  EXPECT_TRUE(is_error(error_of(gpu.ask(r)), reaction::caller_bug, {"precision is 9", "exact or tf32"}));
}

TEST_F(dnn_contract, statistics_count_each_lookup_as_hit_or_miss) {
  const tensor x(gpu.upload(ramp(4)), {4}), y(gpu.alloc<float>(4), {4});
  EXPECT_OK(gpu.ask(dnn::read_statistics{.start_anew = true}).get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(dnn::compute(gpu, {write(dnn::tanh(dnn::read(x)), y)}));
  const auto counted = gpu.ask(dnn::read_statistics{}).get();
  ASSERT_OK(counted);
  EXPECT_LE(counted->made, 1u);
  EXPECT_EQ(counted->hits + counted->misses, 3u);
}

// The step of the dropout is in memory, so that runs of the same plan can have different masks.
TEST_F(dnn_contract, attention_has_another_dropout_mask_after_the_step_changes) {
  const auto step = gpu.upload(std::vector<std::int32_t>{0});
  const tensor x(gpu.upload(ramp(64)), {1, 1, 16, 4}), y(gpu.alloc<float>(64), {1, 1, 16, 4});
  const dnn::value v = dnn::read(x);
  const dnn::computation r{
      .graph = {write(
          dnn::attention(v, v, v,
                         {.scale = 0, .dropout = dnn::attention_dropout{.probability = 0.5, .step = dnn::read(step)}})
              .y,
          y)}};
  const auto run = [&](std::int32_t number) {
    gpu.upload(step, std::vector<std::int32_t>{number});
    EXPECT_OK(gpu.ask(r).get());
    return gpu.download(y.memory()).get().value();
  };
  const auto first = run(0), second = run(1);
  EXPECT_NE(first, second);
  EXPECT_EQ(run(0), first);
}

TEST_F(dnn_contract, each_launch_of_a_graph_reads_the_seed_from_memory) {
  const auto words = gpu.upload(std::vector<std::uint32_t>{0, 0, 0, 0});
  const auto all = gpu.alloc<float>(4), dropped = gpu.alloc<float>(4);
  const dnn::random_seed seed(dnn::read(words));
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(
      dnn::computation{.graph = {write(dnn::random_uniform({4}, seed), all),
                                 write(dnn::dropout(dnn::read(gpu.upload(ramp(4))) + 1, 0.5, seed), dropped)}}));
  const graph::graph g = rec.finish();
  gpu.tell(graph::launch{.graph = g});
  // The words of Philox for key 0 and counter 0, see random.test.cpp. Elements whose number is below 0.5 are retained.
  const auto of = [](std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; };
  EXPECT_EQ(gpu.download(all).get().value(),
            (std::vector<float>{of(0x6627e8d5), of(0xe169c58d), of(0xbc57ac4c), of(0x9b00dbd8)}));
  EXPECT_EQ(gpu.download(dropped).get().value(), (std::vector<float>{2, 0, 0, 0}));
  gpu.upload(words, std::vector<std::uint32_t>{0, 0, 2, 0});
  gpu.tell(graph::launch{.graph = g});
  const auto next = gpu.download(all).get().value();
  EXPECT_EQ(next[0], of(0xbc57ac4c));
  EXPECT_EQ(next[1], of(0x9b00dbd8));
}

TEST_F(dnn_contract, images_are_resampled_and_quantized) {
  const tensor x(gpu.upload(std::vector<float>{0, 8, 4}), {1, 1, 3}), y(gpu.alloc<float>(6), {1, 1, 6});
  const tensor elements(gpu.alloc<float8_e4m3>(3), {1, 1, 3});
  const tensor scales(gpu.alloc<float8_e8m0>(1), {1, 1, 1});
  const dnn::block_scaled q = dnn::quantize_blocks(dnn::read(x) * 60, {.along = 2});
  EXPECT_TRUE(dnn::compute(
      gpu, {write(dnn::resample(dnn::read(x), {6}), y), write(q.elements, elements), write(q.scales, scales)}));
  EXPECT_EQ(gpu.download(y.memory()).get().value(), (std::vector<float>{0, 2, 6, 7, 5, 4}));
  EXPECT_EQ(static_cast<float>(gpu.download(elements.memory()).get().value()[1]), 240);
  EXPECT_EQ(static_cast<float>(gpu.download(scales.memory()).get().value()[0]), 2);
}

TEST_F(dnn_contract, a_recorded_input_can_be_rebound) {
  const auto x = gpu.upload(ramp(4)), other = gpu.upload(std::vector<float>{4, 3, 2, 1}), d = gpu.alloc<float>(4);
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(dnn::computation{.graph = {write(dnn::read(x) * dnn::read(x), tensor(d, {4}))}}));
  const graph::graph g = rec.finish();
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(d).get().value(), (std::vector<float>{0, 1, 4, 9}));
  EXPECT_OK(g.rebind(x, other));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(d).get().value(), (std::vector<float>{16, 9, 4, 1}));
}

TEST_F(dnn_contract, a_tensor_updated_by_each_launch_can_be_rebound) {
  const auto x = gpu.upload(ramp(4)), other = gpu.upload(std::vector<float>{4, 3, 2, 1});
  const tensor view(x, {4});
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(dnn::computation{.graph = {write(dnn::read(view) * 2, view)}}));
  const graph::graph g = rec.finish();
  for (int i = 0; i < 2; ++i) gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(x).get().value(), (std::vector<float>{0, 4, 8, 12}));
  EXPECT_OK(g.rebind(x, other));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(x).get().value(), (std::vector<float>{0, 4, 8, 12}));
  EXPECT_EQ(gpu.download(other).get().value(), (std::vector<float>{8, 6, 4, 2}));
}

class dnn_ready_requests : public dnn_contract {
 protected:
  tensor<float> x{gpu.upload(ramp(9)), {1, 1, 3, 3}};
  tensor<float> filters{gpu.upload(std::vector<float>{1, 0, 0, -1}), {1, 1, 2, 2}},
      y{gpu.alloc<float>(4), {1, 1, 2, 2}};
  buffer<float> bias = gpu.upload(std::vector<float>{5});
  dnn::conv_forward request{.x = x, .filters = filters, .y = y, .bias = tensor(bias, {1})};
  std::vector<float> result() { return gpu.download(y.memory()).get().value(); }
};

TEST_F(dnn_ready_requests, ready_requests_can_be_sent_with_tell_and_ask_prepared_and_recorded) {
  EXPECT_TRUE(gpu.tell(request));
  EXPECT_EQ(result(), (std::vector<float>{1, 1, 1, 1}));
  request.beta = 2;
  EXPECT_OK(gpu.ask(dnn::prepare::of(request)).get());
  EXPECT_OK(gpu.ask(request).get());
  EXPECT_EQ(result(), (std::vector<float>{3, 3, 3, 3})) << "y is read and written";
  graph::recorder rec(gpu);
  const graph::node n = rec.add(request);
  ASSERT_TRUE(n);
  const graph::graph g = rec.finish();
  EXPECT_NE(g.dot().find("dnn.conv_forward"), std::string::npos) << g.dot();
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(result(), (std::vector<float>{7, 7, 7, 7}));
  EXPECT_OK(g.rebind(bias, gpu.upload(std::vector<float>{4})));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(result(), (std::vector<float>{14, 14, 14, 14}));
  request.beta = 0;
  EXPECT_OK(g.set(n, request));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(result(), (std::vector<float>{1, 1, 1, 1}));
}

TEST_F(dnn_ready_requests, errors_name_the_ready_request_and_its_field) {
  request.bias = tensor(gpu.upload(ramp(2)), {2});
  const accepted wrong = gpu.tell(request);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {"dnn.conv_forward: bias is 2; expected 1 x 1 x 1 x 1"}));
  EXPECT_EQ(wrong.error().request().name, "dnn.conv_forward");
  const error later = error_of(gpu.ask(dnn::transform{.x = y, .y = y}));
  EXPECT_TRUE(is_error(later, reaction::caller_bug, {"dnn.conv_forward"})) << "y is stale: " << later.to_string();
  graph::recorder rec(gpu);
  const graph::node n = rec.add(request);
  ASSERT_FALSE(n);
  EXPECT_TRUE(is_error(n.error(), reaction::caller_bug, {"dnn.conv_forward: bias"})) << n.error().to_string();
}

TEST_F(dnn_ready_requests, batch_norm_training_replaces_running_averages) {
  const tensor photos(gpu.upload(std::vector<float>{1, 3, 10, 20}), {2, 2}), out(gpu.alloc<float>(4), {2, 2});
  const tensor mean(gpu.upload(std::vector<float>{0, 0}), {2}), variance(gpu.upload(std::vector<float>{1, 1}), {2});
  for (int i = 0; i < 2; ++i)
    gpu.tell(dnn::batch_norm_training{
        .x = photos, .y = out, .running_mean = mean, .running_variance = variance, .momentum = 0.5});
  EXPECT_EQ(gpu.download(mean.memory()).get().value(), (std::vector<float>{0.75f * 5.5f, 0.75f * 11.5f}));
  EXPECT_OK(gpu.ask(dnn::batch_norm_inference{.x = photos, .mean = mean, .variance = variance, .y = photos}).get());
  EXPECT_LT(gpu.download(photos.memory()).get().value()[0], 0);
}

}  // namespace
}  // namespace troupe::whole
