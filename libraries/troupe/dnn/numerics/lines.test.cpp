// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

// Operations on the lines along an axis, and on pairs of elements.
class dnn_lines : public dnn_numerics {
 protected:
  // Makes one axis long, and the others short.
  void lengthen(extents& e, std::size_t axis, std::int64_t least, std::int64_t most) {
    for (std::int64_t& n : e) n = std::min<std::int64_t>(n, 3);
    e[axis] = random.between(least, most);
  }
  // Returns a loss whose gradient has another value for each element.
  value weighted_sum(const value& x) {
    std::vector<std::size_t> all(x.rank());
    std::iota(all.begin(), all.end(), 0);
    return reduce(x * given(dtype::f32, extents(x.extents().begin(), x.extents().end())), reduction_kind::sum, all);
  }
};

TEST_F(dnn_lines, cumulative_sums_and_their_gradients_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16, dtype::i8})
    for (const bool exclusive : {false, true})
      for (const bool reversed : {false, true})
        for (int i = 0; i < 3 && !HasFailure(); ++i) {
          extents e = random_extents(1, 4, 9);
          const std::size_t axis = any_axis(e);
          if (i == 0) e.resize(axis + 1), lengthen(e, axis, 2000, 5000);
          if (i == 1) lengthen(e, axis, 60, 700);
          const value x = given(t, e), sums = cumulative_sum(x, axis, {.exclusive = exclusive, .reversed = reversed});
          expect_as_defined({sums, 0.5 * sums + x}, dtype::f32, 1e-4);
          if (t != dtype::i8) expect_as_defined({gradients(weighted_sum(sums), {x})[0]}, dtype::f32, 1e-4);
        }
}

TEST_F(dnn_lines, cumulative_sums_have_known_values) {
  stored_tensor &x = stored(dtype::f32, {2, 3}), &a = stored(dtype::f32, {2, 3}), &b = stored(dtype::f32, {2, 3});
  x.fill([i = 0]() mutable { return ++i; });
  const value of(x.operand<access_mode::read>());
  run(computation{
      .graph = {write(cumulative_sum(of, 1), a.operand<access_mode::write>()),
                write(cumulative_sum(of, 0, {.exclusive = true, .reversed = true}), b.operand<access_mode::write>())}});
  EXPECT_EQ(a.values(), (std::vector<double>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(b.values(), (std::vector<double>{4, 5, 6, 0, 0, 0}));
}

TEST_F(dnn_lines, the_largest_and_smallest_elements_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::i8, dtype::i32})
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      extents e = random_extents(1, 4, 9);
      const std::size_t axis = any_axis(e);
      if (i % 3 == 0) lengthen(e, axis, 250, 3000);
      stored_tensor& x = stored(t, e);
      const bool may_be_nan = t < dtype::i8 && random.between(0, 1) == 0, are_few = random.between(0, 2) == 0;
      x.fill([&] {
        if (may_be_nan && random.between(0, 20) == 0) return std::numeric_limits<double>::quiet_NaN();
        if (may_be_nan && random.between(0, 20) == 0) return random.one_of({-0.0, 0.0, -HUGE_VAL, HUGE_VAL});
        return are_few || t >= dtype::i8 ? static_cast<double>(random.between(-3, 3)) : random.value();
      });
      const std::int64_t count = random.one_of({std::int64_t{1}, random.between(1, e[axis]), e[axis]});
      const value of(x.operand<access_mode::read>());
      const selected most = top_k(of, axis, count), least = top_k(of, axis, count, {.smallest = true});
      expect_as_defined({most.values, least.values}, t, 0);
      expect_as_defined({most.indexes, least.indexes}, dtype::i32, 0);
    }
}

TEST_F(dnn_lines, selected_elements_have_known_values_and_nan_is_the_largest) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double numbers[] = {2, nan, -1, 2, 0, -7, 2, 5};
  for (const std::int64_t rest : {0, 1000}) {
    stored_tensor &x = stored(dtype::f32, {8 + rest}), &values = stored(dtype::f32, {5}),
                  &indexes = stored(dtype::i32, {5}), &least = stored(dtype::i32, {3});
    x.fill([&, i = 0]() mutable { return i < 8 ? numbers[i++] : 0; });
    const value of(x.operand<access_mode::read>());
    const selected most = top_k(of, 0, 5);
    run(computation{
        .graph = {write(most.values, values.operand<access_mode::write>()),
                  write(most.indexes, indexes.operand<access_mode::write>()),
                  write(top_k(of, 0, 3, {.smallest = true}).indexes, least.operand<access_mode::write>())}});
    const std::vector<double> got = values.values();
    EXPECT_TRUE(std::isnan(got[0]));
    EXPECT_EQ(std::vector<double>(got.begin() + 1, got.end()), (std::vector<double>{5, 2, 2, 2}));
    EXPECT_EQ(indexes.values(), (std::vector<double>{1, 7, 0, 3, 6}));
    EXPECT_EQ(least.values(), (std::vector<double>{5, 2, 4}));
  }
}

TEST_F(dnn_lines, gradients_of_selected_elements_reach_these_alone) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16})
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      const extents e = random_extents(1, 4, 9);
      const std::size_t axis = any_axis(e);
      const value x = given(t, e);
      const selected all = top_k(x, axis, random.between(1, e[axis]), {.smallest = random.between(0, 1) == 0});
      expect_as_defined({gradients(weighted_sum(2.0 * all.values), {x})[0]}, dtype::f32, 1e-5);
    }
  stored_tensor &x = stored(dtype::f32, {4}), &dx = stored(dtype::f32, {4});
  x.fill([i = 0]() mutable { return ++i % 3; });
  const value of(x.operand<access_mode::read>());
  const value loss = reduce(top_k(of, 0, 2).values * iota({2}, 0), reduction_kind::sum, {0});
  run(computation{.graph = {write(gradients(loss, {of})[0], dx.operand<access_mode::write>())}});
  EXPECT_EQ(dx.values(), (std::vector<double>{1, 0, 0, 0}));
}

TEST_F(dnn_lines, softmax_and_reductions_of_many_neighboring_lines_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64})
    for (const std::int64_t inner : {1, 31, 300, 513}) {
      const extents e{random.between(1, 3), random.between(1, 40), inner};
      const value x = given(t, e), dy = given(t, e);
      expect_as_defined({softmax(x, 1), log_softmax(x, 1), softmax_gradient(dy, softmax(x, 1), 1),
                         log_softmax_gradient(dy, log_softmax(x, 1), 1)},
                        t, 2e-5);
      std::vector<value> all;
      for (int k = 0; k < 8; ++k) {
        const auto how = static_cast<reduction_kind>(k);
        if (how != reduction_kind::product) all.insert(all.end(), {reduce(x, how, {1}), reduce(x, how, {0, 1})});
      }
      expect_as_defined(all, t, 2e-5);
    }
  // NaN and infinities, of all lines and of one.
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  stored_tensor& x = stored(dtype::f32, {3, 40}, dense);
  x.fill([&, i = 0]() mutable { return ++i % 7 == 0 ? nan : i % 11 == 0 ? -HUGE_VAL : i % 13 == 0 ? HUGE_VAL : i; });
  const value of(x.operand<access_mode::read>());
  expect_as_defined({softmax(of, 0), log_softmax(of, 0), reduce(of, reduction_kind::maximum, {0}),
                     reduce(of, reduction_kind::minimum, {0}), reduce(of, reduction_kind::absolute_maximum, {0}),
                     reduce(of, reduction_kind::maximum, {1})},
                    dtype::f32, 2e-5);
}

TEST_F(dnn_lines, slices_with_steps_and_their_gradients_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::bf16})
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      const extents e = random_extents(1, 4, 9);
      const std::size_t axis = any_axis(e);
      const std::int64_t step = random.between(1, 4), first = random.between(0, e[axis] - 1),
                         count = random.between(1, (e[axis] - 1 - first) / step + 1);
      const value x = given(t, e), some = slice(x, axis, first, count, step);
      const value other = slice(0.5 * x, axis, 0, (e[axis] + 1) / 2, 2);
      expect_as_defined({some, 2.0 * some, reduce(other, reduction_kind::sum, {axis})}, dtype::f32, 1e-5);
      expect_as_defined({gradients(weighted_sum(some) + weighted_sum(other), {x})[0]}, dtype::f32, 1e-5);
    }
  stored_tensor &x = stored(dtype::f32, {7}), &y = stored(dtype::f32, {3}), &dx = stored(dtype::f32, {7});
  x.fill([i = 0]() mutable { return i++; });
  const value of(x.operand<access_mode::read>()), some = slice(of, 0, 1, 3, 2);
  const value loss = reduce(some * some, reduction_kind::sum, {0});
  run(computation{.graph = {write(some, y.operand<access_mode::write>()),
                            write(gradients(loss, {of})[0], dx.operand<access_mode::write>())}});
  EXPECT_EQ(y.values(), (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(dx.values(), (std::vector<double>{0, 2, 0, 6, 0, 10, 0}));
}

TEST_F(dnn_lines, rotated_pairs_and_their_gradients_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16})
    for (const bool interleaved : {false, true})
      for (const std::int64_t width : {0, 4}) {
        const std::int64_t tokens = random.between(1, 9), elements = 2 * random.between(2, 5);
        const extents e{2, 3, tokens, elements};
        const rotary_options o{.width = width, .interleaved = interleaved, .base = 500};
        stored_tensor &at = stored(dtype::i32, {tokens}), &at_each = stored(dtype::i32, {2, 1, tokens, 1});
        for (stored_tensor* const p : {&at, &at_each})
          p->fill([&] { return static_cast<double>(random.between(0, 40)); });
        const value x = given(t, e), positions(at.operand<access_mode::read>());
        const value y = rotary(x, positions, o), z = rotary(x, value(at_each.operand<access_mode::read>()), o);
        EXPECT_EQ(y.type(), t);
        expect_as_defined({y, z}, t, t == dtype::bf16 ? 1e-2 : t == dtype::f64 ? 1e-12 : 1e-5);
        if (t != dtype::bf16) expect_as_defined({gradients(weighted_sum(y), {x})[0]}, dtype::f32, 1e-5);
      }
}

TEST_F(dnn_lines, rotations_have_known_values) {
  constexpr std::int64_t tokens = 5, elements = 6, half = 2;  // the last two elements are not rotated
  for (const bool interleaved : {false, true}) {
    stored_tensor &x = stored(dtype::f32, {tokens, elements}), &at = stored(dtype::i32, {tokens}),
                  &c = stored(dtype::f32, {tokens, half}), &s = stored(dtype::f32, {tokens, half}),
                  &y = stored(dtype::f32, {tokens, elements}), &z = stored(dtype::f32, {tokens, elements});
    x.fill([&] { return random.value(); });
    at.fill([i = 0]() mutable { return 100 + i++; });
    const auto angle_of = [&](int i) { return (100 + i / half) * std::pow(10000.0, -2.0 * (i % half) / 4); };
    c.fill([&, i = 0]() mutable { return std::cos(angle_of(i++)); });
    s.fill([&, i = 0]() mutable { return std::sin(angle_of(i++)); });
    const value of(x.operand<access_mode::read>());
    const rotary_options o{.width = 4, .interleaved = interleaved};
    run(computation{
        .graph = {write(rotary(of, value(at.operand<access_mode::read>()), o), y.operand<access_mode::write>()),
                  write(rotary(of, value(c.operand<access_mode::read>()), value(s.operand<access_mode::read>()), o),
                        z.operand<access_mode::write>())}});
    const std::vector<double> in = x.values(), got = y.values(), by_tables = z.values();
    for (int token = 0; token < tokens; ++token) {
      const auto place = [&](int pair, int which) {
        return static_cast<std::size_t>(token * elements + (interleaved ? 2 * pair + which : pair + which * half));
      };
      for (int pair = 0; pair < half; ++pair) {
        const double angle = angle_of(static_cast<int>(token * half + pair)), a = in[place(pair, 0)],
                     b = in[place(pair, 1)];
        for (const auto* const all : {&got, &by_tables}) {
          EXPECT_NEAR((*all)[place(pair, 0)], a * std::cos(angle) - b * std::sin(angle), 2e-5);
          EXPECT_NEAR((*all)[place(pair, 1)], b * std::cos(angle) + a * std::sin(angle), 2e-5);
        }
      }
      for (int i = 4; i < elements; ++i) {
        const auto k = static_cast<std::size_t>(token * elements + i);
        EXPECT_EQ(got[k], in[k]);
      }
    }
  }
}

TEST_F(dnn_lines, a_norm_may_have_a_scale_or_an_offset_alone) {
  for (const dtype t : {dtype::f32, dtype::bf16})
    for (const std::int64_t width : {24, 7}) {
      const value x = given(t, {5, 4, width}), scale = given(dtype::f32, {1, 1, width}),
                  of_channels = given(dtype::f32, {1, 4, 1});
      expect_as_defined(
          {layer_norm(x, 1, 1e-2, affine{scale}).y, layer_norm(x, 1, 1e-2, affine{1, scale}).y,
           group_norm(x, 2, 1e-2, affine{of_channels}).y, batch_norm(x, 1e-2, affine{of_channels}).y,
           normalize_with(x, of_channels, given(dtype::f32, {1, 4, 1}) * 0.0 + 2.0, 1e-2, affine{of_channels})},
          dtype::f32, 1e-3);
      const value y = layer_norm(x, 1, 1e-2, affine{scale}).y;
      expect_as_defined({gradients(weighted_sum(y), {scale})[0]}, dtype::f32, 1e-3);
    }
}

TEST_F(dnn_lines, large_integers_keep_all_digits_between_steps) {
  stored_tensor &x = stored(dtype::i32, {2}), &twice = stored(dtype::i32, {4}), &next = stored(dtype::i32, {2, 2});
  x.fill([i = 0]() mutable { return i++ == 0 ? 16777217.0 : 2.0; });
  const value of(x.operand<access_mode::read>()), sums = cumulative_sum(of, 0);
  run(computation{.graph = {write(concatenate({sums, top_k(of, 0, 2).values}, 0), twice.operand<access_mode::write>()),
                            write(transpose(reshape(concatenate({sums + 1.0, sums}, 0), {2, 2}), {1, 0}),
                                  next.operand<access_mode::write>())}});
  EXPECT_EQ(twice.values(), (std::vector<double>{16777217, 16777219, 16777217, 2}));
  EXPECT_EQ(next.values(), (std::vector<double>{16777218, 16777217, 16777220, 16777219}));
}

TEST_F(dnn_lines, a_single_element_may_be_written_to_memory_with_other_axes) {
  stored_tensor &x = stored(dtype::f32, {2, 3}), &one = stored(dtype::f32, {1}), &more = stored(dtype::f32, {1, 1, 1});
  x.fill([i = 0]() mutable { return ++i; });
  const value sum = reduce(value(x.operand<access_mode::read>()), reduction_kind::sum, {0, 1});
  run(computation{
      .graph = {write(sum, one.operand<access_mode::write>()), write(2.0 * sum, more.operand<access_mode::write>())}});
  EXPECT_EQ(one.values(), (std::vector<double>{21}));
  EXPECT_EQ(more.values(), (std::vector<double>{42}));
}

}  // namespace
}  // namespace troupe::dnn
