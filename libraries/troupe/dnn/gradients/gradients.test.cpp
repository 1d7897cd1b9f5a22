// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the gradient operations of the reference with finite differences of its forward operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/testing/variable.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_gradients : public ::testing::Test {
 protected:
  variable any(const extents& shape) {
    std::int64_t n = 1;
    for (const std::int64_t e : shape) n *= e;
    variable out{std::vector<double>(static_cast<std::size_t>(n)), shape};
    std::uniform_real_distribution<double> values(-1, 1);
    for (double& x : out.numbers) x = values(random_);
    return out;
  }
  static extents of(const value& v) { return {v.extents().begin(), v.extents().end()}; }

  // Compares `gradient(dy)`, the gradient of y with respect to x, with finite differences.
  void expect_gradient(variable& x, const std::function<value()>& y,
                       const std::function<value(const value& dy)>& gradient) {
    const variable dy = any(of(y()));
    const std::vector<double> got = values_of(gradient(dy.read()));
    ASSERT_EQ(got.size(), x.numbers.size());
    const auto loss = [&] {
      const std::vector<double> all = values_of(y());
      double sum = 0;
      for (std::size_t i = 0; i < all.size(); ++i) sum += all[i] * dy.numbers[i];
      return sum;
    };
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < x.numbers.size(); ++i) {
      const double before = x.numbers[i];
      x.numbers[i] = before + step;
      const double above = loss();
      x.numbers[i] = before - step;
      const double below = loss();
      x.numbers[i] = before;
      EXPECT_NEAR(got[i], (above - below) / (2 * step), 1e-6 * std::max(1.0, std::fabs(got[i]))) << "element " << i;
    }
  }

 private:
  std::mt19937_64 random_{7};
};

TEST_F(dnn_gradients, gradients_of_convolutions_match_finite_differences) {
  const convolution_options options[] = {{.padding = 1, .stride = 2},
                                         {.padding = {2, 0}, .padding_after = {0, 1}, .dilation = {1, 2}, .groups = 2}};
  for (const convolution_options& o : options) {
    variable x = any({2, 4, 6, 5}), filters = any({6, 4 / o.groups, 3, 2});
    const auto y = [&] { return convolution(x.read(), filters.read(), o); };
    expect_gradient(x, y, [&](const value& dy) { return convolution_data_gradient(dy, filters.read(), x.shape, o); });
    expect_gradient(filters, y,
                    [&](const value& dy) { return convolution_weight_gradient(dy, x.read(), filters.shape, o); });
  }
}

TEST_F(dnn_gradients, gradients_of_pooling_match_finite_differences) {
  variable x = any({2, 2, 5, 6});
  const pooling_options o{.padding = 1, .stride = {2, 1}};
  expect_gradient(
      x, [&] { return max_pool(x.read(), {3, 2}, o); },
      [&](const value& dy) { return max_pool_gradient(dy, x.read(), {3, 2}, o); });
  for (const bool counts_padding : {false, true})
    expect_gradient(
        x, [&] { return mean_pool(x.read(), {3, 2}, o, counts_padding); },
        [&](const value& dy) { return mean_pool_gradient(dy, x.shape, {3, 2}, o, counts_padding); });
}

TEST_F(dnn_gradients, gradients_of_normalizations_match_finite_differences) {
  variable x = any({3, 4, 2, 3}), scale = any({1, 4, 1, 1}), offset = any({1, 4, 1, 1}), tail = any({1, 1, 2, 3});
  using norm = std::function<normalized()>;
  const auto of_channels = [&] { return affine{scale.read(), offset.read()}; };
  for (const norm& n : {norm([&] { return batch_norm(x.read(), 0.1, of_channels()); }),
                        norm([&] { return instance_norm(x.read(), 0.1, of_channels()); }),
                        norm([&] { return group_norm(x.read(), 2, 0.1, of_channels()); })}) {
    const auto y = [&] { return n().y; };
    const auto all = [&](const value& dy) { return normalization_gradient(dy, x.read(), n(), scale.read()); };
    expect_gradient(x, y, [&](const value& dy) { return all(dy).dx; });
    expect_gradient(scale, y, [&](const value& dy) { return all(dy).dscale; });
    expect_gradient(offset, y, [&](const value& dy) { return all(dy).doffset; });
  }
  const auto rms = [&] { return rms_norm(x.read(), 2, 0.1, tail.read()); };
  const auto y = [&] { return rms().y; };
  expect_gradient(x, y, [&](const value& dy) { return rms_norm_gradient(dy, x.read(), rms(), tail.read()).dx; });
  expect_gradient(tail, y, [&](const value& dy) { return rms_norm_gradient(dy, x.read(), rms(), tail.read()).dscale; });
  expect_gradient(
      x, [&] { return layer_norm(x.read(), 1, 0.1).y; },
      [&](const value& dy) { return normalization_gradient(dy, x.read(), layer_norm(x.read(), 1, 0.1)).dx; });
}

TEST_F(dnn_gradients, gradients_of_softmax_match_finite_differences) {
  variable x = any({3, 4, 5});
  for (const std::size_t over : {0, 1, 2}) {
    expect_gradient(
        x, [&] { return softmax(x.read(), over); },
        [&](const value& dy) { return softmax_gradient(dy, softmax(x.read(), over), over); });
    expect_gradient(
        x, [&] { return log_softmax(x.read(), over); },
        [&](const value& dy) { return log_softmax_gradient(dy, log_softmax(x.read(), over), over); });
  }
}

TEST_F(dnn_gradients, gradients_of_dropout_use_the_mask_of_the_forward_operation) {
  variable x = any({4, 6});
  const random_seed seed(3, 5);
  expect_gradient(
      x, [&] { return dropout(x.read(), 0.4, seed); },
      [&](const value& dy) { return dropout_gradient(dy, 0.4, seed); });
}

TEST_F(dnn_gradients, gradients_of_local_response_norm_match_finite_differences) {
  for (const std::int64_t size : {1, 2, 3, 5, 9}) {
    variable x = any({2, 6, 2, 3});
    const response_norm_options o{.size = size, .alpha = 1.5, .beta = 0.6, .k = 1.2};
    expect_gradient(
        x, [&] { return local_response_norm(x.read(), o); },
        [&](const value& dy) { return local_response_norm_gradient(dy, x.read(), o); });
  }
}

constexpr resampling_coordinates all_coordinates[] = {
    resampling_coordinates::half_pixel, resampling_coordinates::align_corners, resampling_coordinates::asymmetric,
    resampling_coordinates::pytorch_half_pixel};
TEST_F(dnn_gradients, gradients_of_resampling_match_finite_differences) {
  const std::pair<extents, extents> cases[] = {
      {{5}, {8}}, {{7}, {3}}, {{3, 4}, {5, 4}}, {{4, 5}, {1, 2}}, {{2, 3, 4}, {4, 2, 5}}};
  for (const auto& [in, out] : cases)
    for (const auto kind : {resampling_kind::nearest, resampling_kind::linear, resampling_kind::cubic})
      for (const auto coordinates : all_coordinates) {
        extents shape{2, 2};
        shape.insert(shape.end(), in.begin(), in.end());
        variable x = any(shape);
        const resampling_options o{kind, coordinates};
        expect_gradient(
            x, [&, &to = out] { return resample(x.read(), to, o); },
            [&, &of_x = in](const value& dy) { return resample_gradient(dy, of_x, o); });
      }
}

TEST_F(dnn_gradients, gradients_of_pooling_from_indexes_match_finite_differences) {
  variable x = any({2, 2, 5, 6});
  const pooling_options o{.padding = 1, .stride = {2, 1}};
  expect_gradient(
      x, [&] { return max_pool_with_indexes(x.read(), {3, 2}, o).y; },
      [&](const value& dy) {
        return max_pool_index_gradient(dy, max_pool_with_indexes(x.read(), {3, 2}, o).indexes, x.shape, {3, 2}, o);
      });
}

TEST_F(dnn_gradients, gradients_of_recurrences_match_finite_differences) {
  const std::int32_t steps[] = {4, 2, 0};
  const value lengths(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(steps), sizeof steps},
                             {.rank = 1, .extents = {3}, .strides = {1}}, dtype::i32));
  for (const auto& [cell, gates, width] : {std::tuple(recurrent_cell::relu, 1, 3),
                                           {recurrent_cell::tanh, 1, 3},
                                           {recurrent_cell::lstm, 4, 3},
                                           {recurrent_cell::lstm, 4, 2},
                                           {recurrent_cell::gru, 3, 3}}) {
    SCOPED_TRACE(cat("cell ", static_cast<int>(cell), ", width ", width));
    const std::int64_t rows = 3 * gates;
    const bool is_lstm = cell == recurrent_cell::lstm;
    variable x = any({4, 3, 2}), input = any({rows, 2}), recurrent = any({rows, width}), b = any({rows}),
             d = any({rows}), projection = any({width, 3}), h = any({3, width}), c = any({3, 3});
    for (const bool reversed : {false, true}) {
      const auto weights = [&] {
        return recurrent_weights{input.read(), recurrent.read(), recurrent_weights::bias{b.read(), d.read()},
                                 width != 3 ? std::optional(projection.read()) : std::nullopt};
      };
      const auto options = [&] {
        return recurrence_options{cell, reversed,
                                  recurrent_state{h.read(), is_lstm ? std::optional(c.read()) : std::nullopt}, lengths};
      };
      // Returns all results of a layer as one matrix with a row for each sequence, so that they have one gradient.
      const auto all = [&] {
        const recurrent_result r = recurrence(x.read(), weights(), options());
        const value y = reshape(transpose(r.y, {1, 0, 2}), {3, 4 * width});
        return is_lstm ? concatenate({y, r.h, r.c}, 1) : concatenate({y, r.h}, 1);
      };
      const auto back = [&](const value& g) {
        recurrent_output_gradients of_results{
            .y = transpose(reshape(slice(g, 1, 0, 4 * width), {3, 4, width}), {1, 0, 2}),
            .h = slice(g, 1, 4 * width, width)};
        if (is_lstm) of_results.c = slice(g, 1, 5 * width, 3);
        return recurrence_gradient(of_results, x.read(), weights(), recurrence(x.read(), weights(), options()).reserve,
                                   options());
      };
      expect_gradient(x, all, [&](const value& g) { return back(g).dx; });
      expect_gradient(input, all, [&](const value& g) { return back(g).dinput; });
      expect_gradient(recurrent, all, [&](const value& g) { return back(g).drecurrent; });
      expect_gradient(b, all, [&](const value& g) { return back(g).dinput_bias; });
      expect_gradient(d, all, [&](const value& g) { return back(g).drecurrent_bias; });
      expect_gradient(h, all, [&](const value& g) { return back(g).dh; });
      if (is_lstm) expect_gradient(c, all, [&](const value& g) { return back(g).dc; });
      if (width != 3) expect_gradient(projection, all, [&](const value& g) { return back(g).dprojection; });
    }
  }
}

TEST_F(dnn_gradients, gradients_of_bidirectional_layers_match_finite_differences) {
  variable x = any({3, 2, 2}), first = any({12, 2}), second = any({12, 6}), recurrent = any({12, 3});
  const rnn_options o{.bidirectional = true};
  const auto weights = [&] {
    const recurrent_weights one{first.read(), recurrent.read()}, two{second.read(), recurrent.read()};
    return std::vector{one, one, two, two};
  };
  const auto y = [&] { return rnn(x.read(), weights(), o).y; };
  const auto back = [&](const value& dy) {
    return rnn_gradient(dy, x.read(), weights(), rnn(x.read(), weights(), o), o);
  };
  expect_gradient(x, y, [&](const value& dy) { return back(dy).dx; });
  expect_gradient(first, y, [&](const value& dy) { return back(dy).layers[0].dinput + back(dy).layers[1].dinput; });
  expect_gradient(recurrent, y, [&](const value& dy) {
    const rnn_gradients g = back(dy);
    return g.layers[0].drecurrent + g.layers[1].drecurrent + g.layers[2].drecurrent + g.layers[3].drecurrent;
  });
}

TEST_F(dnn_gradients, gradients_of_ctc_loss_match_finite_differences) {
  // Labels that repeat, a sequence that is shorter than the logits, and a sequence without labels.
  const std::int32_t all[] = {1, 1, 2, 3, 2, 3, 0, 0, 0}, steps[] = {6, 4, 5}, counts[] = {3, 3, 0};
  const auto whole = [](const std::int32_t* at, tensor_shape s) {
    return value(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(at), 36}, s, dtype::i32));
  };
  const tensor_shape of_batch{.rank = 1, .extents = {3}, .strides = {1}};
  const ctc_labels l{whole(all, {.rank = 2, .extents = {3, 3}, .strides = {3, 1}}), whole(steps, of_batch),
                     whole(counts, of_batch)};
  variable logits = any({6, 3, 4});
  expect_gradient(
      logits, [&] { return ctc_loss(logits.read(), l); },
      [&](const value& dloss) { return ctc_loss_gradient(dloss, logits.read(), l); });
}

}  // namespace
}  // namespace troupe::dnn
