// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_indexing : public dnn_numerics {
 protected:
  static extents reduced(extents e, std::size_t axis) {
    e[axis] = 1;
    return e;
  }
  // Returns labels, of which some are no class: the ignored one, one too small, or too large.
  stored_tensor& labels(const extents& e, std::int64_t classes) {
    stored_tensor& t = stored(random.one_of({dtype::i32, dtype::i64}), e);
    t.fill([&] {
      return random.between(0, 4) != 0
                 ? static_cast<double>(random.between(0, classes - 1))
                 : random.one_of({-100.0, -1.0, static_cast<double>(classes), 16777217.0, -2147483648.0,
                                  t.type() == dtype::i64 ? 4294967296.0 : 0x7fffffff});
    });
    return t;
  }
};

TEST_F(dnn_indexing, iota_and_one_hot_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32, dtype::u8})
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      const extents e = random_extents(1, 4, 12);
      const std::size_t axis = any_axis(e);
      const value indexes = iota(e, axis);
      expect_as_defined({indexes, given(dtype::f16, e) * indexes - 0.5, reduce(indexes, reduction_kind::sum, {axis})},
                        t, 1e-5);
      const std::int64_t classes = random.between(1, 20);
      extents of_labels = e;
      of_labels.resize(std::min<std::size_t>(of_labels.size(), 3));
      expect_as_defined({one_hot(value(labels(of_labels, classes).operand<access_mode::read>()), classes)}, t, 0);
    }
}

TEST_F(dnn_indexing, indexes_along_an_axis_of_sets_are_written_for_all_elements) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    extents e = random_extents(2, 4, 12);
    const std::size_t axis = any_axis(e), over = (axis + 1) % e.size();
    if (random.between(0, 2) == 0) e[over] = random.between(100, 3000);
    const value x = given(dtype::f32, e), indexes = iota(e, axis);
    expect_as_defined({indexes, indexes + reduce(x, reduction_kind::sum, {over}),
                       reduce(x * indexes, reduction_kind::mean, {over}), softmax(x + indexes, over)},
                      dtype::f32, 3e-4);
  }
}

TEST_F(dnn_indexing, labels_are_compared_exactly_with_the_largest_numbers_of_float) {
  stored_tensor& l = stored(dtype::i32, {3});
  l.fill([n = 16777214.0]() mutable { return ++n; });
  const value at(l.operand<access_mode::read>());
  std::vector<value> all;
  for (const double n : {16777215.0, 16777216.0, 16777217.0, -16777216.0})
    all.insert(all.end(), {equal(at, n), less(at, n), less_equal(n, at)});
  expect_as_defined(all, dtype::f32, 0);
}

TEST_F(dnn_indexing, integers_of_64_bits_are_converted_as_those_of_32_bits) {
  for (int i = 0; i < 6 && !HasFailure(); ++i) {
    const extents e = random_extents(1, 4, 12);
    stored_tensor& x = stored(dtype::i64, e);
    x.fill([&] { return static_cast<double>(random.between(-(1ll << 40), 1ll << 40)); });
    const value of(x.operand<access_mode::read>());
    expect_as_defined({of, of * 2.0, convert(of, dtype::f32)}, random.one_of({dtype::i64, dtype::f64}), 0);
    expect_as_defined({convert(of, dtype::f32) * 0.5}, dtype::f32, 0);
  }
}

TEST_F(dnn_indexing, indexes_along_a_long_axis_are_exact) {
  expect_as_defined({iota({2, 100'003}, 1), iota({100'003, 2}, 0)}, dtype::f32, 0);
}

TEST_F(dnn_indexing, arg_max_and_arg_min_return_the_first_of_equal_elements_and_of_nan) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::i8, dtype::i32})
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      extents e = random_extents(1, 4, 12);
      const std::size_t axis = any_axis(e);
      if (random.between(0, 2) == 0) e[axis] = random.between(100, 3000);
      stored_tensor& x = stored(t, e);
      const bool may_be_nan = t < dtype::i8 && random.between(0, 1) == 0;
      x.fill([&] {
        return may_be_nan && random.between(0, 20) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                        : static_cast<double>(random.between(-9, 9));
      });
      stored_tensor &most = stored(dtype::i32, reduced(e, axis)), &least = stored(dtype::i64, reduced(e, axis));
      const value of(x.operand<access_mode::read>());
      run(computation{.graph = {write(arg_max(of, axis), most.operand<access_mode::write>()),
                                write(arg_min(of, axis), least.operand<access_mode::write>())}});
      const std::vector<double> all = x.values(), got_most = most.values(), got_least = least.values();
      std::int64_t inner = 1;
      for (std::size_t k = axis + 1; k < e.size(); ++k) inner *= e[k];
      for (std::size_t set = 0; set < got_most.size(); ++set) {
        const auto s = static_cast<std::int64_t>(set);
        const auto at = [&](std::int64_t k) {
          return all[static_cast<std::size_t>((s / inner * e[axis] + k) * inner + s % inner)];
        };
        std::int64_t largest = 0, smallest = 0;
        for (std::int64_t k = 1; k < e[axis]; ++k) {
          const auto is_better = [&](std::int64_t than, bool more) {
            return !std::isnan(at(than)) && (std::isnan(at(k)) || (more ? at(k) > at(than) : at(k) < at(than)));
          };
          if (is_better(largest, true)) largest = k;
          if (is_better(smallest, false)) smallest = k;
        }
        ASSERT_EQ(got_most[set], largest) << numerics::how_to_repeat();
        ASSERT_EQ(got_least[set], smallest) << numerics::how_to_repeat();
      }
    }
}

TEST_F(dnn_indexing, gather_and_scatter_add_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::i8})
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      extents e = random_extents(1, 4, 12);
      e.resize(std::min<std::size_t>(e.size(), 3));
      const std::size_t axis = any_axis(e);
      extents of_indexes = random_extents(1, 4, 12);
      of_indexes.resize(std::min<std::size_t>(of_indexes.size(), 2));
      if (random.between(0, 3) == 0) of_indexes = {random.between(200, 400)};
      const value at(labels(of_indexes, e[axis]).operand<access_mode::read>()), x = given(t, e);
      const value parts = gather(x, at, axis);
      const dtype written = t == dtype::i8 ? dtype::f32 : random.one_of({t, dtype::f32});
      const extents of_parts(parts.extents().begin(), parts.extents().end());
      expect_as_defined({parts, 2.0 * parts + given(dtype::f32, of_parts)}, written, 1e-5);
      // Of what is computed, and of sums.
      expect_as_defined({gather(x * 0.5 + 1.0, at, axis), scatter_add(x, at, given(dtype::f32, of_parts), axis)},
                        dtype::f32, 1e-3);
      std::vector<std::size_t> all(of_parts.size());
      std::iota(all.begin(), all.end(), 0);
      if (t != dtype::i8)
        expect_as_defined({gradients(reduce(select(equal(parts, parts), parts, 0) * given(dtype::f32, of_parts),
                                            reduction_kind::sum, all),
                                     {x})[0]},
                          dtype::f32, 1e-3);
    }
}

TEST_F(dnn_indexing, full_tensors_and_expanded_ones_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16, dtype::i8, dtype::i32})
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      const extents e = random_extents(1, 4, 12);
      const double number = random.one_of({0.0, -3.0, 7.5});
      extents some(e.begin() + random.between(0, static_cast<std::int64_t>(e.size()) - 1), e.end());
      for (std::int64_t& n : some)
        if (random.between(0, 1) == 0) n = 1;
      const value x = expand(given(t, some), e);
      EXPECT_EQ(x.type(), t);
      expect_as_defined({full(e, number), full(e, number, dtype::f64), x, expand(2.0, e)}, t, 0);
      expect_as_defined({x + given(dtype::f32, e)}, dtype::f32, 1e-6);
    }
  stored_tensor& all = stored(dtype::f32, {2, 3});
  run(computation{.graph = {write(full({2, 3}, -1.5), all.operand<access_mode::write>())}});
  EXPECT_EQ(all.values(), std::vector<double>(6, -1.5));
}

TEST_F(dnn_indexing, a_table_can_be_updated_in_place) {
  for (const dtype t : {dtype::f32, dtype::bf16}) {
    stored_tensor& table = stored(t, {37, 24}, dense);
    table.fill([&] { return random.value(); });
    const value read(table.operand<access_mode::read>()), at(labels({50}, 37).operand<access_mode::read>()),
        parts = given(dtype::f32, {50, 24});
    expect_written({scatter_add(read, at, -0.1 * parts, 0)}, {&table}, 1e-4);
    stored_tensor& some = stored(t, {50, 24}, dense);
    expect_written({gather(read, at, 0), read * 2.0}, {&some, &table}, 1e-4);
  }
}

TEST_F(dnn_indexing, cross_entropy_and_its_gradient_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16})
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      extents e = random_extents(1, 4, 12);
      const std::size_t axis = any_axis(e);
      if (random.between(0, 2) == 0) e[axis] = random.between(100, 3000);
      extents of_labels = e;
      of_labels[axis] = 1;
      const value x = given(t, e) * 3.0, l(labels(of_labels, e[axis]).operand<access_mode::read>());
      const cross_entropy_options o{.label_smoothing = random.one_of({0.0, 0.0, 0.1}),
                                    .ignored = random.one_of<std::int64_t>({-100, 0})};
      const value loss = cross_entropy(x, l, axis, o);
      // The sum of the losses that are numbers.
      std::vector<std::size_t> all(e.size());
      std::iota(all.begin(), all.end(), 0);
      const value total = reduce(select(equal(loss, loss), loss, 0), reduction_kind::sum, all);
      expect_as_defined({loss, gradients(total, {x})[0]}, dtype::f32, 1e-4);
    }
}

TEST_F(dnn_indexing, cross_entropy_and_its_gradient_follow_from_probabilities) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const std::int64_t rows = random.between(1, 9), classes = random.between(1, 40);
    stored_tensor &x = stored(dtype::f32, {rows, classes}, dense), &l = labels({rows, 1}, classes),
                  &loss = stored(dtype::f32, {rows, 1}, dense), &dx = stored(dtype::f32, {rows, classes}, dense);
    const bool may_be_nan = random.between(0, 1) == 0;
    x.fill([&] {
      return may_be_nan && random.between(0, 30) == 0 ? std::numeric_limits<double>::quiet_NaN() : 3 * random.value();
    });
    const double smoothing = random.one_of({0.0, 0.0, 0.2, 1.0});
    const value of(x.operand<access_mode::read>()), at(l.operand<access_mode::read>());
    const value y = cross_entropy(of, at, 1, {.label_smoothing = smoothing});
    const value total = reduce(y, reduction_kind::sum, {0, 1});
    run(computation{.graph = {write(y, loss.operand<access_mode::write>()),
                              write(gradients(total, {of})[0], dx.operand<access_mode::write>())}});
    const std::vector<double> all = x.values(), label = l.values(), got = loss.values(), got_dx = dx.values();
    for (std::int64_t n = 0; n < rows; ++n) {
      const auto r = static_cast<std::size_t>(n), first = static_cast<std::size_t>(n * classes);
      const bool is_class = label[r] >= 0 && label[r] < static_cast<double>(classes);
      if (!is_class) {
        EXPECT_TRUE(label[r] == -100 ? got[r] == 0 : std::isnan(got[r])) << label[r] << ": " << got[r];
        for (std::int64_t c = 0; c < classes; ++c) EXPECT_EQ(got_dx[first + static_cast<std::size_t>(c)], 0);
        continue;
      }
      double sum = 0, want = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(all[first + static_cast<std::size_t>(c)]);
      for (std::int64_t c = 0; c < classes; ++c) {
        const double share = (static_cast<double>(c) == label[r] ? 1 - smoothing : 0) +
                             smoothing / static_cast<double>(classes),
                     number = all[first + static_cast<std::size_t>(c)];
        if (share != 0) want += share * (std::log(sum) - number);
        const double gradient = std::exp(number) / sum - share, got_here = got_dx[first + static_cast<std::size_t>(c)];
        EXPECT_TRUE(std::isnan(gradient) ? std::isnan(got_here) : std::fabs(got_here - gradient) < 1e-5)
            << got_here << ", expected " << gradient << "; " << numerics::how_to_repeat();
      }
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got[r]) : std::fabs(got[r] - want) < 1e-4)
          << got[r] << ", expected " << want << "; " << numerics::how_to_repeat();
    }
  }
}

TEST_F(dnn_indexing, cross_entropy_of_rows_has_known_values) {
  stored_tensor &x = stored(dtype::f32, {4, 3}), &l = stored(dtype::i32, {4, 1}), &loss = stored(dtype::f32, {4, 1}),
                &smoothed = stored(dtype::f32, {4, 1});
  const double numbers[] = {1, 2, 3, 0.5, -0.5, 0, 10, -10, -std::numeric_limits<double>::infinity(), 1, 1, 1},
               classes[] = {2, 0, 0, -100};
  x.fill([&, i = 0]() mutable { return numbers[i++]; });
  l.fill([&, i = 0]() mutable { return classes[i++]; });
  const value of(x.operand<access_mode::read>()), at(l.operand<access_mode::read>());
  run(computation{
      .graph = {write(cross_entropy(of, at, 1), loss.operand<access_mode::write>()),
                write(cross_entropy(of, at, 1, {.label_smoothing = 0.1}), smoothed.operand<access_mode::write>())}});
  const double infinity = std::numeric_limits<double>::infinity(),
               first = std::log(std::exp(1) + std::exp(2) + std::exp(3)),
               second = std::log(std::exp(0.5) + std::exp(-0.5) + 1);
  const double want[] = {first - 3, second - 0.5, 0, 0},
               want_smoothed[] = {first - 0.9 * 3 - 0.1 * 2, second - 0.9 * 0.5, infinity, 0};
  const std::vector<double> got = loss.values(), got_smoothed = smoothed.values();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-6) << i;
    if (std::isinf(want_smoothed[i]))
      EXPECT_EQ(got_smoothed[i], infinity);
    else
      EXPECT_NEAR(got_smoothed[i], want_smoothed[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace troupe::dnn
