// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the gradients that `gradients` derives with finite differences of the loss. The reference computes both.
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/testing/variable.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;
using all_values = std::vector<value>;

class dnn_differentiation : public ::testing::Test {
 protected:
  variable& any(const extents& shape, double least = -1, double most = 1) {
    std::int64_t n = 1;
    for (const std::int64_t e : shape) n *= e;
    variable& out = all_.emplace_back(std::vector<double>(static_cast<std::size_t>(n)), shape);
    std::uniform_real_distribution<double> values(least, most);
    for (double& x : out.numbers) x = values(random_);
    return out;
  }
  // Returns a loss in which each element of y has a different weight.
  static value loss_of(const value& y) {
    const value weighted = y * (random_uniform(y.extents(), random_seed(3)) + 0.5);
    std::vector<std::size_t> over(y.rank());
    for (std::size_t i = 0; i < over.size(); ++i) over[i] = i;
    return reduce(weighted, reduction_kind::sum, over);
  }
  // Compares the gradients of loss_of(y(...)) with respect to all variables with finite differences.
  void expect_gradients(const std::vector<variable*>& of, const std::function<value(const all_values&)>& y) {
    const auto loss = [&] {
      all_values read;
      for (const variable* v : of) read.push_back(v->read());
      return std::pair(loss_of(y(read)), read);
    };
    const auto [l, read] = loss();
    ASSERT_EQ(l.why_refused(), "");
    const all_values derivatives = gradients(l, read);
    ASSERT_EQ(derivatives.size(), of.size());
    constexpr double step = 1e-5;
    for (std::size_t k = 0; k < of.size(); ++k) {
      ASSERT_EQ(derivatives[k].why_refused(), "") << "variable " << k;
      ASSERT_EQ(extents(derivatives[k].extents().begin(), derivatives[k].extents().end()), of[k]->shape)
          << "variable " << k;
      const std::vector<double> got = values_of(derivatives[k]);
      for (std::size_t i = 0; i < got.size(); ++i) {
        double& x = of[k]->numbers[i];
        const double before = x;
        x = before + step;
        const double above = values_of(loss().first)[0];
        x = before - step;
        const double below = values_of(loss().first)[0];
        x = before;
        EXPECT_NEAR(got[i], (above - below) / (2 * step), 1e-5 * std::max(1.0, std::fabs(got[i])))
            << "element " << i << " of variable " << k;
      }
    }
  }

 private:
  std::mt19937_64 random_{7};
  std::deque<variable> all_;
};

TEST_F(dnn_differentiation, elementwise_functions_match_finite_differences) {
  using function_op = epilogue::op;
  std::size_t counts[4] = {};
  for (function_op f = function_op::negate; is_known(f); f = static_cast<function_op>(static_cast<int>(f) + 1)) {
    if (!is_function(f) || (f >= function_op::d_relu && f <= function_op::d_hard_swish) ||
        f == function_op::d_leaky_relu || f == function_op::d_elu)
      continue;
    SCOPED_TRACE(to_string(f));
    const bool positive = f == function_op::logarithm || f == function_op::square_root || f == function_op::power ||
                          f == function_op::modulo;
    const double least = positive ? 0.3 : -1.5;
    variable &a = any({2, 5}, least, 1.5), &b = any({2, 5}, least, 1.5), &c = any({2, 5}, least, 1.5);
    const std::size_t n = epilogue::info(f).arguments;
    ++counts[n];
    if (n == 1) expect_gradients({&a}, [f](const all_values& v) { return pointwise(f, v[0]); });
    if (n == 2) expect_gradients({&a, &b}, [f](const all_values& v) { return pointwise(f, v[0], v[1]); });
    if (n == 3)
      expect_gradients({&a, &b, &c}, [f](const all_values& v) { return pointwise(f, less(v[0], 0.1), v[1], v[2]); });
  }
  EXPECT_GE(counts[1], 20u);
  EXPECT_GE(counts[2], 14u);
  EXPECT_EQ(counts[3], 1u);
}

TEST_F(dnn_differentiation, broadcast_operands_match_finite_differences) {
  variable &x = any({3, 4, 2}), &row = any({1, 4, 1}), &one = any({1, 1, 1});
  expect_gradients({&x, &row, &one}, [](const all_values& v) { return (v[0] + v[1]) * v[2] - 3 * v[1] / 2; });
  expect_gradients({&row, &one}, [](const all_values& v) { return v[0] * v[1] + 1; });
  // The gradient of a mean is one number, also for elements that are broadcast.
  expect_gradients({&row},
                   [&x](const all_values& v) { return reduce(x.read() + v[0], reduction_kind::mean, {0, 1, 2}); });
  expect_gradients({&row}, [&x](const all_values& v) { return reduce(x.read() * v[0], reduction_kind::mean, {0, 1}); });
}

TEST_F(dnn_differentiation, values_used_several_times_match_finite_differences) {
  expect_gradients({&any({3, 3})}, [](const all_values& v) {
    const value y = tanh(v[0]), z = y * y + v[0];
    return z * y + exp(z) - product(z, transpose(y, {1, 0})) + reduce(z, reduction_kind::sum, {0, 1});
  });
}

TEST_F(dnn_differentiation, convolutions_and_their_gradients_match_finite_differences) {
  const convolution_options o{.padding = {2, 0}, .padding_after = {0, 1}, .stride = {1, 2}, .groups = 2};
  variable &x = any({2, 4, 5, 4}), &filters = any({6, 2, 3, 2});
  expect_gradients({&x, &filters}, [&](const all_values& v) { return convolution(v[0], v[1], o); });
  const extents y = [&] {
    const value c = convolution(x.read(), filters.read(), o);
    return extents(c.extents().begin(), c.extents().end());
  }();
  variable& dy = any(y);
  expect_gradients({&dy, &filters},
                   [&](const all_values& v) { return convolution_data_gradient(v[0], v[1], x.shape, o); });
  expect_gradients({&dy, &x},
                   [&](const all_values& v) { return convolution_weight_gradient(v[0], v[1], filters.shape, o); });
  expect_gradients({&any({2, 3, 4}), &any({3, 2, 3})}, [](const all_values& v) {
    return transposed_convolution(v[0], v[1], {.padding = 1, .stride = 2}, 1);
  });
}

TEST_F(dnn_differentiation, broadcast_products_match_finite_differences) {
  expect_gradients({&any({2, 3, 4}), &any({1, 4, 2})}, [](const all_values& v) { return product(v[0], v[1]); });
  expect_gradients({&any({1, 3, 4}), &any({3, 4, 2})}, [](const all_values& v) { return product(v[0], v[1]); });
}

TEST_F(dnn_differentiation, reductions_match_finite_differences) {
  using enum reduction_kind;
  for (const reduction_kind kind : {sum, mean, maximum, minimum, absolute_maximum, norm1, norm2}) {
    SCOPED_TRACE(static_cast<int>(kind));
    expect_gradients({&any({3, 4, 2})}, [kind](const all_values& v) { return reduce(v[0], kind, {0, 2}); });
    expect_gradients({&any({3, 1})}, [kind](const all_values& v) { return reduce(v[0], kind, {1}); });
  }
}

TEST_F(dnn_differentiation, equal_maxima_get_equal_shares_of_the_gradient) {
  variable x{{1, 3, 3, 2}, {1, 4}};
  EXPECT_EQ(values_of(gradients(reduce(x.read(), reduction_kind::maximum, {0, 1}), {x.read()})[0]),
            (std::vector<double>{0, 0.5, 0.5, 0}));
}

TEST_F(dnn_differentiation, normalizations_match_finite_differences) {
  variable &x = any({3, 4, 2, 3}), &scale = any({1, 4, 1, 1}), &offset = any({1, 4, 1, 1}), &tail = any({1, 1, 2, 3});
  expect_gradients({&x, &scale, &offset},
                   [](const all_values& v) { return batch_norm(v[0], 0.1, affine{v[1], v[2]}).y; });
  variable &mean = any({1, 4, 1, 1}), &variance = any({1, 4, 1, 1}, 0.5, 2);
  expect_gradients({&x, &scale, &offset}, [&](const all_values& v) {
    return batch_norm(v[0], 0.1, affine{v[1], v[2]}, running_averages{mean.read(), variance.read()}).y;
  });
  expect_gradients({&x, &scale, &offset},
                   [](const all_values& v) { return group_norm(v[0], 2, 0.1, affine{v[1], v[2]}).y; });
  expect_gradients({&x}, [](const all_values& v) { return layer_norm(v[0], 2, 0.1).y; });
  expect_gradients({&x, &tail}, [](const all_values& v) { return rms_norm(v[0], 2, 0.1, v[1]).y; });
  expect_gradients({&x}, [](const all_values& v) { return local_response_norm(v[0], {.size = 3, .alpha = 1}); });
}

TEST_F(dnn_differentiation, pooling_and_resampling_match_finite_differences) {
  variable& x = any({2, 2, 5, 6});
  const pooling_options o{.padding = 1, .stride = {2, 1}};
  expect_gradients({&x}, [&](const all_values& v) { return max_pool(v[0], {3, 2}, o); });
  expect_gradients({&x}, [&](const all_values& v) { return max_pool_with_indexes(v[0], {3, 2}, o).y; });
  expect_gradients({&x}, [&](const all_values& v) { return mean_pool(v[0], {3, 2}, o, false); });
  expect_gradients({&x}, [](const all_values& v) { return resample(v[0], {7, 3}, {resampling_kind::cubic}); });
}

TEST_F(dnn_differentiation, softmax_matches_finite_differences) {
  expect_gradients({&any({3, 4})}, [](const all_values& v) { return softmax(v[0], 0) + log_softmax(v[0], 1); });
}

TEST_F(dnn_differentiation, attention_matches_finite_differences) {
  variable &q = any({2, 4, 3, 2}), &k = any({2, 2, 5, 2}), &v = any({2, 2, 5, 3}), &bias = any({1, 4, 3, 5});
  attention_options o;
  o.soft_cap = 2;
  o.window = causal_bottom_right;
  o.dropout = attention_dropout{.probability = 0.3, .seed = 5, .offset = 0, .step = {}};
  expect_gradients({&q, &k, &v, &bias}, [&o](const all_values& all) {
    o.bias = all[3];
    return attention(all[0], all[1], all[2], o).y;
  });
  expect_gradients({&q}, [](const all_values& all) { return attention(all[0], all[0], all[0], {}).y; });
}

TEST_F(dnn_differentiation, recurrences_match_finite_differences) {
  variable &x = any({4, 2, 3}), &input = any({12, 3}), &recurrent = any({12, 2}), &b = any({12}), &d = any({12}),
           &projection = any({2, 3}), &h = any({2, 2}), &c = any({2, 3});
  expect_gradients({&x, &input, &recurrent, &b, &d, &projection, &h, &c}, [](const all_values& v) {
    const recurrent_result r = recurrence(v[0], {v[1], v[2], recurrent_weights::bias{v[3], v[4]}, v[5]},
                                          {.reversed = true, .initial = recurrent_state{v[6], v[7]}});
    return concatenate({reshape(r.y, {2, 8}), r.h, r.c}, 1);
  });
  variable &w = any({9, 3}), &u = any({9, 3});
  expect_gradients({&x, &w, &u},
                   [](const all_values& v) { return recurrence(v[0], {v[1], v[2]}, {.cell = recurrent_cell::gru}).h; });
}

TEST_F(dnn_differentiation, ctc_loss_matches_finite_differences) {
  const std::int32_t numbers[] = {1, 2, 2, 1, 5, 4, 2, 2};
  const auto whole = [&](int first, tensor_shape s) {
    return value(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(numbers + first), 16}, s, dtype::i32));
  };
  const tensor_shape of_batch{.rank = 1, .extents = {2}, .strides = {1}};
  const ctc_labels l{whole(0, {.rank = 2, .extents = {2, 2}, .strides = {2, 1}}), whole(4, of_batch),
                     whole(6, of_batch)};
  expect_gradients({&any({5, 2, 3})}, [&](const all_values& v) { return ctc_loss(v[0], l); });
}

TEST_F(dnn_differentiation, shape_operations_match_finite_differences) {
  expect_gradients({&any({2, 6, 3}), &any({2, 1, 3})}, [](const all_values& v) {
    const value parts = concatenate({v[0], v[1]}, 1);      // 2 x 7 x 3
    const value transposed = transpose(parts, {1, 2, 0});  // 7 x 3 x 2
    return reshape(slice(transposed, 0, 1, 4), {6, 4}) * reshape(slice(transposed, 0, 3, 4), {6, 4}) +
           reshape(slice(transposed, 0, 0, 4), {6, 4});
  });
  // The gradient of y is one number here.
  expect_gradients({&any({2, 3})}, [](const all_values& v) {
    return reduce(slice(reshape(transpose(concatenate({v[0], v[0]}, 1), {1, 0}), {3, 4}), 1, 1, 2),
                  reduction_kind::mean, {0, 1});
  });
}

TEST_F(dnn_differentiation, all_reads_of_a_memory_contribute_to_its_gradient) {
  variable& x = any({3});
  const all_values derivatives = gradients(reduce(x.read() * x.read(), reduction_kind::sum, {0}), {x.read()});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values_of(derivatives[0])[i], 2 * x.numbers[i]);
}

TEST_F(dnn_differentiation, gradients_can_be_taken_by_computed_values) {
  variable& x = any({3});
  const value y = exp(x.read());
  const all_values derivatives = gradients(reduce(y * y, reduction_kind::sum, {0}), {y, x.read()});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(values_of(derivatives[0])[i], 2 * std::exp(x.numbers[i]), 1e-12);
    EXPECT_NEAR(values_of(derivatives[1])[i], 2 * std::exp(2 * x.numbers[i]), 1e-12);
  }
}

TEST_F(dnn_differentiation, piecewise_constant_functions_have_a_gradient_of_0) {
  variable& x = any({3});
  EXPECT_EQ(values_of(gradients(reduce(floor(x.read()), reduction_kind::sum, {0}), {x.read()})[0]),
            (std::vector<double>{0, 0, 0}));
}

TEST_F(dnn_differentiation, an_infinite_derivative_of_an_unselected_operand_is_ignored) {
  variable x{{0, 1}, {2}};
  const value y = select(equal(x.read(), 0), 5, sqrt(x.read()));
  EXPECT_EQ(values_of(gradients(reduce(y, reduction_kind::sum, {0}), {x.read()})[0])[1], 0.5);
}

TEST_F(dnn_differentiation, gradients_of_products_of_half_types_are_f32) {
  const auto half = [&](std::uint64_t at) {
    return value(in_any(memory_range{{}, at, 32}, {.rank = 2, .extents = {4, 4}, .strides = {4, 1}}, dtype::bf16));
  };
  const value x = half(64), w = half(128);
  const value y = convert(product(convert(gelu(product(x, w)), dtype::bf16), w), dtype::bf16);
  const all_values derivatives = gradients(reduce(y, reduction_kind::mean, {0, 1}), {w, x});
  for (const value& s : derivatives) {
    EXPECT_EQ(s.why_refused(), "");
    EXPECT_EQ(s.type(), dtype::f32);
  }
}

TEST_F(dnn_differentiation, slices_match_finite_differences) {
  variable &x = any({5, 14}), &other = any({1, 14});
  // Slices with gaps, that overlap, along both axes, and of an output that is also used otherwise.
  expect_gradients({&x}, [](const all_values& v) { return exp(slice(v[0], 1, 3, 2)) * slice(v[0], 1, 7, 2); });
  expect_gradients({&x}, [](const all_values& v) { return slice(v[0], 0, 0, 3) * exp(slice(v[0], 0, 1, 3)); });
  expect_gradients({&x, &other}, [](const all_values& v) {
    const value y = tanh(v[0]);
    return slice(y, 0, 1, 1) * slice(y, 0, 4, 1) * v[1] + slice(slice(y, 1, 2, 1), 0, 3, 1) + y;
  });
  // More slices than a concatenation has parts.
  expect_gradients({&x}, [](const all_values& v) {
    value sum = 0;
    for (int i = 0; i < 14; ++i) sum = sum + (i + 1) * slice(exp(v[0]), 1, i, 1);
    return sum;
  });
}

TEST_F(dnn_differentiation, slices_with_steps_match_finite_differences) {
  variable& x = any({4, 9});
  expect_gradients({&x}, [](const all_values& v) {  // slices whose elements alternate, and others
    const value y = tanh(v[0]);
    return slice(y, 1, 0, 4, 2) * exp(slice(y, 1, 1, 4, 2)) + slice(y, 1, 2, 4) * slice(slice(y, 0, 1, 1), 1, 8, 1, 3);
  });
  expect_gradients({&x}, [](const all_values& v) { return exp(slice(v[0], 0, 1, 2, 2)) * slice(v[0], 0, 0, 2, 3); });
}

TEST_F(dnn_differentiation, operations_on_lines_match_finite_differences) {
  variable &x = any({3, 5, 2}), &table = any({5, 1}), &mean = any({1, 5, 1});
  for (const std::size_t axis : {0, 1, 2})
    for (const bool reversed : {false, true}) {
      expect_gradients({&x}, [=](const all_values& v) {
        return exp(cumulative_sum(v[0], axis, {.exclusive = reversed, .reversed = reversed}));
      });
      expect_gradients({&x},
                       [=](const all_values& v) { return exp(top_k(v[0], axis, 2, {.smallest = reversed}).values); });
    }
  expect_gradients({&x, &table}, [](const all_values& v) {
    return rotary(v[0], iota({5}, 0), {.base = 100}) + rotary(exp(v[0]), v[1], v[1] * 2, {.interleaved = true});
  });
  expect_gradients({&x, &mean}, [](const all_values& v) {
    return normalize_with(v[0], v[1], exp(v[1]), 0.1, affine{expand(reshape(v[1], {5, 1}), {1, 5, 2})});
  });
}

template <access_mode M>
any_operand<M> floats_at(std::uint64_t address, std::span<const std::int64_t> e) {
  tensor_shape s{.rank = e.size()};
  std::copy(e.begin(), e.end(), s.extents.begin());
  s.strides = dense_strides(s);
  return {memory_range{{}, address, static_cast<std::uint64_t>(elements_of(s)) * sizeof(float)}, s, dtype::f32};
}
value stored(const extents& e, std::uint64_t address) { return value(floats_at<access_mode::read>(address, e)); }
TEST_F(dnn_differentiation, slices_of_variables_and_of_computed_variables_count_once) {
  variable& x = any({4, 3});
  const value read = x.read(), y = tanh(read), loss = reduce(slice(y, 0, 1, 2), reduction_kind::sum, {0, 1});
  EXPECT_EQ(values_of(gradients(loss, {y})[0]), (std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0}));
  const value of_read = reduce(slice(read, 1, 0, 1), reduction_kind::sum, {0, 1});
  const all_values twice = gradients(of_read, {read, read});
  for (const value& v : twice) EXPECT_EQ(values_of(v), (std::vector<double>{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}));
  // An iota has at most 2^24 elements along its axis.
  const value vector(in_any(memory_range{{}, 1024, std::uint64_t{4} << 25},
                            {.rank = 1, .extents = {1 << 25}, .strides = {1}}, dtype::f32));
  EXPECT_EQ(gradients(reduce(slice(vector, 0, 5, 9), reduction_kind::sum, {0}), {vector})[0].why_refused(), "");
}

// Returns the operations of a graph that computes these values.
std::string operations_of(const all_values& all) {
  std::vector<written> to;
  for (const value& v : all) to.push_back({v, floats_at<access_mode::write>((to.size() + 1) << 32, v.extents())});
  const graph g(to);
  EXPECT_FALSE(g.refused());
  return to_string(g);
}

TEST_F(dnn_differentiation, gradients_of_slices_that_do_not_overlap_are_concatenated) {
  const value x = stored({4, 6}, 1024), w = stored({4, 2}, 2048);
  const value q = slice(x, 1, 0, 2), k = slice(x, 1, 2, 2), v = slice(x, 1, 4, 2);
  const value loss = reduce(q * w + k * v, reduction_kind::sum, {0, 1});
  EXPECT_EQ(operations_of(gradients(loss, {x})), "slice, slice, concatenation, write");
}

TEST_F(dnn_differentiation, the_gradient_of_a_matrix_for_all_of_a_batch_is_one_product) {
  const value x = stored({3, 4, 5}, 1024), w = stored({1, 5, 6}, 2048);
  const value y = product(x, w), loss = reduce(y * y, reduction_kind::sum, {0, 1, 2});
  EXPECT_EQ(operations_of(gradients(loss, {w})), "reshape, transposition, product, sum, reshape, product, write");
}

TEST_F(dnn_differentiation, the_gradient_of_a_half_value_is_rounded_to_its_type) {
  variable &x = any({2, 2}), &w = any({2, 2});
  w.numbers.assign(4, 1.0 / 3);
  const auto gradient_by = [&](const value& y) {
    const value loss = reduce(y * w.read(), reduction_kind::sum, {0, 1});
    return values_of(gradients(loss, {x.read()})[0])[0];
  };
  EXPECT_EQ(gradient_by(convert(x.read(), dtype::f16)), static_cast<double>(static_cast<float>(half(1.0f / 3))));
  EXPECT_EQ(gradient_by(x.read()), 1.0 / 3);
}

// cuDNN computes the gradient only if y, dy and the results are rounded to the half type, and nothing reads the
// unrounded values.
TEST_F(dnn_differentiation, gradients_of_half_attention_read_rounded_values) {
  const auto half = [](std::uint64_t at) {
    return value(in_any(memory_range{{}, at, 1024}, {.rank = 4, .extents = {1, 2, 8, 8}, .strides = {128, 64, 8, 1}},
                        dtype::f16));
  };
  const value q = half(1024), k = half(2048), v = half(3072);
  const value y = convert(attention(q, k, v).y, dtype::f16);
  const all_values derivatives = gradients(reduce(y * y, reduction_kind::mean, {0, 1, 2, 3}), {q, k, v});
  std::vector<written> to;
  for (const value& s : derivatives)
    to.push_back({s, out_any(memory_range{{}, 4096 + 1024 * to.size(), 1024},
                             {.rank = 4, .extents = {1, 2, 8, 8}, .strides = {128, 64, 8, 1}}, dtype::f32)});
  const graph g(to);
  ASSERT_FALSE(g.refused());
  const auto node_of = [&](op what) {
    return *std::find_if(g.nodes().begin(), g.nodes().end(), [&](const encoded_node& n) { return n.what == what; });
  };
  const auto readers_of = [&](std::uint16_t tensor) {
    std::vector<op> out;
    for (const encoded_node& n : g.nodes())
      for (std::size_t i = 0; i < n.input_count; ++i)
        if (n.inputs[i] == tensor) out.push_back(n.what);
    return out;
  };
  const encoded_node forward = node_of(op::attention), back = node_of(op::attention_gradient);
  EXPECT_EQ(readers_of(forward.outputs[0]), std::vector{op::convert});
  for (const std::size_t i : {0, 1}) EXPECT_EQ(g.tensors()[back.inputs[i]].type, dtype::f16) << "input " << i;
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(readers_of(back.outputs[i]), std::vector{op::convert});
}

std::string why_refused(const value& loss, const value& by) { return gradients(loss, {by})[0].why_refused(); }
value sum_of_all(const value& v) { return reduce(v, reduction_kind::sum, {0, 1}); }

TEST_F(dnn_differentiation, unsuitable_losses_and_variables_are_refused) {
  variable &x = any({4, 4}), &other = any({4});
  const value v = x.read(), loss = sum_of_all(v);
  EXPECT_EQ(why_refused(v, v), "has a gradient whose loss is 4 x 4; expected one element");
  EXPECT_EQ(why_refused(loss, other.read()),
            "has a gradient whose variable 0 is not used by the loss; expected a value that the loss is computed from");
  EXPECT_EQ(why_refused(loss, 3), "has a gradient whose variable 0 is a number; expected a tensor");
  const value again(in_any(x.range(), {.rank = 2, .extents = {4, 1}, .strides = {4, 1}}, dtype::f64));
  EXPECT_EQ(why_refused(sum_of_all(v * again), v),
            "has a gradient whose variable 0 is also read by another view of the same memory; expected one view");
  const value bad = product(v, other.read());
  EXPECT_EQ(why_refused(bad, v), bad.why_refused());
}

TEST_F(dnn_differentiation, gradients_through_operations_without_a_derivative_are_refused_by_name) {
  const value v = any({4, 4}).read();
  const std::string expected = ", which has no derivative; expected only operations that have derivatives";
  EXPECT_EQ(why_refused(sum_of_all(d_gelu(v)), v), "has a gradient whose path from the loss passes d_gelu" + expected);
  EXPECT_EQ(why_refused(reduce(v, reduction_kind::product, {0, 1}), v),
            "has a gradient whose path from the loss passes a reduction to a product" + expected);
  EXPECT_EQ(why_refused(sum_of_all(convert(v, dtype::i8)), v),
            "has a gradient whose path from the loss passes a conversion to i8" + expected);
  EXPECT_EQ(why_refused(sum_of_all(layer_norm(v, 1, 0.1).mean), v),
            "has a gradient whose path from the loss passes statistics of normalization" + expected);
  EXPECT_EQ(why_refused(sum_of_all(softmax_gradient(v, v, 0)), v),
            "has a gradient whose path from the loss passes softmax_gradient" + expected);
}

}  // namespace
}  // namespace troupe::dnn
