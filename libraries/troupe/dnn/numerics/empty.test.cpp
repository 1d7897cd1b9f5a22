// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests every operation on tensors without elements. Expected results follow from the operation's definition: for
// example, a sum of no summands is 0.
#include <limits>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;
using kind = reduction_kind;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

class dnn_without_elements : public dnn_numerics {
 protected:
  value of(const extents& e) { return given(dtype::f32, e); }
  value counts(const extents& e) { return given(dtype::i32, e); }

  struct result {
    value what;
    extents shape;
    double number = 0;  // the value of each element
  };
  // Writes all values in one request, and compares them with what is expected.
  void expect(const std::vector<result>& all) {
    std::vector<stored_tensor*> to;
    std::vector<written> writes;
    for (const result& r : all) {
      ASSERT_EQ(r.what.why_refused(), "");
      ASSERT_EQ(extents(r.what.extents().begin(), r.what.extents().end()), r.shape);
      to.push_back(&stored(dtype::f32, r.shape));
      writes.push_back({r.what, to.back()->operand<access_mode::write>()});
    }
    const computation c{.graph = graph(writes)};
    ASSERT_FALSE(c.graph.refused()) << c.graph.refused()->what;
    ASSERT_TRUE(engine->run(prepare{c}));
    run(c);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(to[i]->untouched_outside()) << i;
      for (const double got : to[i]->values())
        EXPECT_TRUE(got == all[i].number || (std::isnan(got) && std::isnan(all[i].number)))
            << "result " << i << " has " << got << ", expected " << all[i].number;
    }
  }
};

TEST_F(dnn_without_elements, operations_on_tensors_without_elements_return_no_elements) {
  const value x = of({0, 4}), y = of({3, 0, 5});
  expect({{relu(x) + of({1, 4}) * 2, {0, 4}},
          {convert(x, dtype::bf16), {0, 4}},
          {select(y, of({3, 1, 5}), y), {3, 0, 5}},
          {reshape(y, {0, 7}), {0, 7}},
          {transpose(y, {1, 2, 0}), {0, 5, 3}},
          {slice(of({4, 3}), 1, 3, 0), {4, 0}},
          {slice(y, 0, 1, 2), {2, 0, 5}},
          {random_uniform({0, 9}, 7), {0, 9}},
          {dropout(x, 0.5, 3), {0, 4}}});
  EXPECT_NE((x + of({2, 4})).why_refused(), "") << "only an extent of 1 is repeated";
}

TEST_F(dnn_without_elements, concatenations_skip_parts_without_elements) {
  const value some = of({2, 3}), none = of({0, 3});
  expect({{concatenate({none, none}, 0), {0, 3}}});
  expect_as_defined({concatenate({none, some, none}, 0) * 2, concatenate({some, of({2, 0}), some}, 1)}, dtype::f32, 0);
  // The reference omits parts without elements, too, so compare with the memory itself.
  stored_tensor& y = stored(dtype::f32, {2, 3});
  run(computation{.graph = {{concatenate({none, some}, 0), y.operand<access_mode::write>()}}});
  EXPECT_EQ(y.values(),
            stored_tensor::values_at(some.from().memory->range().address, some.from().memory->shape(), dtype::f32));
}

TEST_F(dnn_without_elements, reductions_of_no_elements_return_the_neutral_element) {
  const value x = of({3, 0, 4});
  expect({{reduce(x, kind::sum, {1}), {3, 1, 4}},
          {reduce(x, kind::sum, {0, 1, 2}), {1, 1, 1}},
          {reduce(x, kind::product, {1}), {3, 1, 4}, 1},
          {reduce(x, kind::mean, {1}), {3, 1, 4}, no_number},
          {reduce(x, kind::absolute_maximum, {1}), {3, 1, 4}},
          {reduce(x, kind::norm1, {1}), {3, 1, 4}},
          {reduce(x, kind::norm2, {1, 2}), {3, 1, 1}},
          {reduce(x, kind::maximum, {0}), {1, 0, 4}},
          {reduce(x, kind::minimum, {2}), {3, 0, 1}},
          {softmax(x, 1), {3, 0, 4}},
          {log_softmax(x, 2), {3, 0, 4}},
          {softmax_gradient(x, x, 1), {3, 0, 4}},
          {log_softmax_gradient(x, x, 0), {3, 0, 4}}});
  for (const kind how : {kind::maximum, kind::minimum})
    EXPECT_NE(reduce(x, how, {1}).why_refused().find("has a reduction whose x is 3 x 0 x 4; expected elements"),
              std::string::npos)
        << reduce(x, how, {1}).why_refused();
}

TEST_F(dnn_without_elements, products_without_summands_are_0) {
  expect({{product(of({3, 0}), of({0, 5})), {3, 5}},
          {product(of({2, 3, 0}), of({1, 0, 5})) + 1.5, {2, 3, 5}, 1.5},
          {product(given(dtype::i8, {3, 0}), given(dtype::i8, {0, 5})), {3, 5}},
          {product(of({0, 4}), of({4, 5})), {0, 5}},
          {product(of({3, 4}), of({4, 0})), {3, 0}},
          {product(of({0, 3, 4}), of({1, 4, 5})), {0, 3, 5}}});
}

TEST_F(dnn_without_elements, windows_over_no_images_return_no_elements_and_filter_gradients_of_0) {
  const value x = of({0, 4, 6, 6}), filters = of({8, 4, 3, 3}), dy = of({0, 8, 4, 4}), small = of({0, 4, 3, 3});
  const auto largest = max_pool_with_indexes(x, 2);
  expect({{convolution(x, filters) + channels(of({8}), 4), {0, 8, 4, 4}},
          {convolution_data_gradient(dy, filters, x.extents()), {0, 4, 6, 6}},
          {convolution_weight_gradient(dy, x, filters.extents()), {8, 4, 3, 3}},
          {transposed_convolution(dy, filters), {0, 4, 6, 6}},
          {max_pool(x, 2), {0, 4, 3, 3}},
          {mean_pool(x, 2), {0, 4, 3, 3}},
          {max_pool_gradient(small, x, 2), {0, 4, 6, 6}},
          {mean_pool_gradient(small, x.extents(), 2), {0, 4, 6, 6}},
          {largest.y, {0, 4, 3, 3}},
          {max_pool_index_gradient(small, counts({0, 4, 3, 3}), x.extents(), 2), {0, 4, 6, 6}},
          {resample(x, {3, 9}), {0, 4, 3, 9}},
          {resample_gradient(small, {6, 6}), {0, 4, 6, 6}},
          {local_response_norm(x), {0, 4, 6, 6}},
          {local_response_norm_gradient(x, x), {0, 4, 6, 6}}});
}

TEST_F(dnn_without_elements, norms_of_no_elements_have_no_statistics_and_do_not_change_running_averages) {
  const value x = of({0, 6, 5}), scale = of({1, 6, 1}), offset = of({1, 6, 1});
  const value mean = of({1, 6, 1}), variance = of({1, 6, 1});
  const auto plain = batch_norm(x, 1e-5, affine{scale, offset});
  const auto gradients = normalization_gradient(x, x, plain, scale);
  const auto layer = layer_norm(x, 1, 1e-5);
  const auto of_none = layer_norm(of({3, 0}), 1, 1e-5);
  const auto rms = rms_norm(of({3, 0}), 1, 1e-5);
  expect({{plain.y, {0, 6, 5}},
          {plain.mean, {1, 6, 1}, no_number},
          {plain.inverse_deviation, {1, 6, 1}, no_number},
          {gradients.dx, {0, 6, 5}},
          {gradients.dscale, {1, 6, 1}},
          {gradients.doffset, {1, 6, 1}},
          {layer.y, {0, 6, 5}},
          {layer.mean, {0, 6, 1}},
          {of_none.y, {3, 0}},
          {of_none.mean, {3, 1}, no_number},
          {rms.mean, {3, 1}, 0},
          {rms.inverse_deviation, {3, 1}, no_number},
          {group_norm(x, 3, 1e-5).y, {0, 6, 5}},
          {instance_norm(x, 1e-5).y, {0, 6, 5}}});
  const auto running = batch_norm(x, 1e-5, std::nullopt, running_averages{mean, variance, 0.1});
  expect_as_defined({running.next_mean, running.next_variance}, dtype::f32, 0);
  stored_tensor& next = stored(dtype::f32, {1, 6, 1});
  run(computation{.graph = {{running.next_mean, next.operand<access_mode::write>()}}});
  stored_tensor& in_place = stored(dtype::f32, {1, 6, 1});
  in_place.fill([this] { return random.value(); });
  const std::vector<double> before = in_place.values();
  const value average(in_place.operand<access_mode::read>());
  const auto replaced = batch_norm(x, 1e-5, std::nullopt, running_averages{average, variance, 0.1});
  run(computation{.graph = {{replaced.next_mean, in_place.operand<access_mode::write>()}}});
  EXPECT_EQ(in_place.values(), before);
  EXPECT_EQ(next.values(),
            stored_tensor::values_at(mean.from().memory->range().address, mean.from().memory->shape(), dtype::f32));
}

TEST_F(dnn_without_elements, attention_returns_no_elements_without_queries_and_zeros_without_keys) {
  const value q = of({2, 4, 3, 8}), k = of({2, 2, 0, 8}), v = of({2, 2, 0, 5});
  const attended none = attention(q, k, v), few = attention(of({2, 4, 0, 8}), of({2, 2, 7, 8}), of({2, 2, 7, 5})),
                 nobody = attention(of({0, 4, 3, 8}), of({0, 2, 7, 8}), of({0, 2, 7, 5}));
  const auto gradients = attention_gradient(of({2, 4, 3, 5}), none, q, k, v);
  const auto of_few = attention_gradient(of({2, 4, 0, 5}), few, of({2, 4, 0, 8}), of({2, 2, 7, 8}), of({2, 2, 7, 5}));
  expect({{none.y, {2, 4, 3, 5}},
          {none.statistics, {2, 4, 3, 1}, -infinity},
          {few.y, {2, 4, 0, 5}},
          {few.statistics, {2, 4, 0, 1}},
          {nobody.y, {0, 4, 3, 5}},
          {gradients.dq, {2, 4, 3, 8}},
          {gradients.dk, {2, 2, 0, 8}},
          {of_few.dq, {2, 4, 0, 8}},
          {of_few.dk, {2, 2, 7, 8}},
          {of_few.dv, {2, 2, 7, 5}}});
  const attention_options paged{.pages = counts({2, 0})};
  expect({{attention(q, of({9, 2, 16, 8}), of({9, 2, 16, 5}), paged).y, {2, 4, 3, 5}}});
}

TEST_F(dnn_without_elements, recurrences_without_steps_do_not_change_the_state) {
  const recurrent_weights w{.input = of({16, 3}), .recurrent = of({16, 4})};
  const value h = of({2, 4}), c = of({2, 4});
  const recurrence_options o{.cell = recurrent_cell::lstm, .initial = recurrent_state{h, c}};
  const auto none = recurrence(of({0, 2, 3}), w, o);
  const auto nobody = recurrence(of({5, 0, 3}), w, {.cell = recurrent_cell::lstm});
  const auto at_rest = recurrence(of({0, 2, 3}), w, {.cell = recurrent_cell::lstm});
  const auto gradients = recurrence_gradient({.y = of({5, 0, 4}), .h = {}, .c = {}}, of({5, 0, 3}), w, nobody.reserve,
                                             {.cell = recurrent_cell::lstm});
  expect({{none.y, {0, 2, 4}},
          {nobody.y, {5, 0, 4}},
          {nobody.h, {0, 4}},
          {at_rest.h, {2, 4}},
          {at_rest.c, {2, 4}},
          {gradients.dx, {5, 0, 3}},
          {gradients.dinput, {16, 3}},
          {gradients.drecurrent, {16, 4}}});
  stored_tensor &last_h = stored(dtype::f32, {2, 4}), &last_c = stored(dtype::f32, {2, 4});
  run(computation{
      .graph = {{none.h, last_h.operand<access_mode::write>()}, {none.c, last_c.operand<access_mode::write>()}}});
  const auto numbers = [](const value& x) {
    return stored_tensor::values_at(x.from().memory->range().address, x.from().memory->shape(), dtype::f32);
  };
  EXPECT_EQ(last_h.values(), numbers(h));
  EXPECT_EQ(last_c.values(), numbers(c));
}

TEST_F(dnn_without_elements, losses_of_no_sequences_and_blocks_of_no_elements_return_no_elements) {
  const ctc_labels labels{.labels = counts({0, 3}), .steps = counts({0}), .counts = counts({0})};
  const value logits = of({7, 0, 5});
  const auto blocks = quantize_blocks(of({4, 0}), {.along = 1, .block = 32});
  const auto others = quantize_blocks(of({0, 64}), {.along = 1, .block = 32});
  expect({{ctc_loss(logits, labels), {0}},
          {ctc_loss_gradient(of({0}), logits, labels), {7, 0, 5}},
          {blocks.elements, {4, 0}},
          {blocks.scales, {4, 0}},
          {others.scales, {0, 2}},
          {dequantize_blocks(blocks.elements, blocks.scales, 1, 32), {4, 0}}});
}

TEST_F(dnn_without_elements, gradients_of_values_computed_from_no_elements_are_0) {
  const value x = of({0, 4}), w = of({4, 3}), offset = of({1, 3});
  const value y = tanh(product(x, w) + offset);
  const auto all = gradients(reduce(y, kind::sum, {0, 1}), {x, w, offset});
  expect({{all[0], {0, 4}}, {all[1], {4, 3}}, {all[2], {1, 3}}});
}

TEST_F(dnn_without_elements, constants_computed_from_no_elements_can_be_used_in_the_graph) {
  const value sum = reduce(of({3, 0}), kind::sum, {1}), y = of({3, 4});
  stored_tensor& z = stored(dtype::f32, {3, 4});
  run(computation{.graph = {{y * (sum + 2), z.operand<access_mode::write>()}}});
  std::vector<double> twice =
      stored_tensor::values_at(y.from().memory->range().address, y.from().memory->shape(), dtype::f32);
  for (double& n : twice) n *= 2;
  EXPECT_EQ(z.values(), twice);
  expect({{softmax(sum * of({3, 4}), 1), {3, 4}, 0.25}});
}

}  // namespace
}  // namespace troupe::dnn
