// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares elementwise operations, reductions, normalizations and their gradients, and shape operations with the
// reference in double precision.
#include <troupe/dnn/testing/numerics.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;
using fn = epilogue::op;

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16};

class dnn_elements : public dnn_numerics {
 protected:
  extents any_extents(std::size_t least, std::size_t most, std::int64_t longest) {
    extents e = random_extents(least, most, longest);
    if (random.between(0, 3) == 0) e.back() = random.between(500, 700);
    return e;
  }
  // Returns the extents with some of them replaced by 1.
  extents some_of(extents e) {
    for (std::int64_t& n : e)
      if (random.between(0, 2) == 0) n = 1;
    return e;
  }
  std::vector<std::size_t> some_axes(std::size_t rank) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < rank; ++i)
      if (random.between(0, 1) == 0) out.push_back(i);
    if (out.empty()) out.push_back(static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(rank) - 1)));
    return out;
  }
};

TEST_F(dnn_elements, all_elementwise_functions_match_the_definition) {
  for (auto f = fn::negate; epilogue::is_known(f); f = static_cast<fn>(static_cast<int>(f) + 1))
    for (const dtype t : types) {
      if (!epilogue::is_function(f)) break;
      const extents e = any_extents(1, 5, 5);
      const value x = given(t, e);
      const value y = random.between(0, 2) == 0 ? value(0.5) : given(t, some_of(e)), z = given(dtype::f32, some_of(e));
      const std::size_t arguments = epilogue::info(f).arguments;
      // Divisors are at least 1, so that no quotient is much larger than its operands.
      const value divisor = f == fn::divide ? y * y + 1.0 : y;
      const value out = arguments == 1   ? pointwise(f, x)
                        : arguments == 2 ? pointwise(f, x, divisor)
                                         : pointwise(f, x, y, z);
      expect_as_defined({out}, random.one_of({t, dtype::f32}), 4e-6);
      if (HasFailure()) FAIL() << epilogue::to_string(f) << " of " << to_string(t);
    }
}

TEST_F(dnn_elements, values_are_rounded_where_they_are_converted) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const extents e = any_extents(1, 4, 8);
    // The products have few bits and are exact in float, so that they are rounded only by the conversion.
    const value x = given(dtype::bf16, e), half = convert(x * 3.0, dtype::f16), eighth = convert<float8_e4m3>(half - x);
    expect_as_defined({half + eighth, relu(half), convert(eighth * 20.0, dtype::i8), x}, dtype::f32, 1e-6);
  }
}

TEST_F(dnn_elements, in_bool_tensors_every_number_but_0_is_true_and_true_is_stored_as_1) {
  using std::uint8_t;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers{0, -0.0, 1, -1, 0.4, -0.4, 1e-6, 2, 3, 255, 256, nan, infinite, -infinite};
  const std::vector<uint8_t> truths{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, bytes{0, 1, 2, 3, 128, 255};
  const extents of_numbers{14}, of_bytes{6};
  const auto at = [](stored_tensor& t) { return reinterpret_cast<uint8_t*>(t.address()); };
  for (const dtype t : types) {
    stored_tensor &from = stored(t, of_numbers, dense), &read = stored(dtype::boolean, of_bytes, dense),
                  &truth = stored(dtype::boolean, of_numbers, dense), &number = stored(t, of_numbers, dense),
                  &copy = stored(dtype::boolean, of_bytes, dense), &read_number = stored(t, of_bytes, dense);
    auto next = numbers.begin();
    from.fill([&] { return *next++; });
    std::copy(bytes.begin(), bytes.end(), at(read));
    const value x(from.operand<access_mode::read>()), b(read.operand<access_mode::read>());
    const computation r{.graph = {{x, truth.operand<access_mode::write>()},
                                  {convert(x, dtype::boolean), number.operand<access_mode::write>()},
                                  {b, copy.operand<access_mode::write>()},
                                  {b, read_number.operand<access_mode::write>()}}};
    for (const bool is_prepared : {false, true}) {
      SCOPED_TRACE(cat(to_string(t), is_prepared ? ", prepared" : ", not prepared"));
      if (is_prepared) {
        ASSERT_TRUE(engine->run(prepare{r}));
      }
      run(r);
      EXPECT_EQ(std::vector<uint8_t>(at(truth), at(truth) + numbers.size()), truths);
      EXPECT_EQ(number.values(), std::vector<double>(truths.begin(), truths.end()));
      EXPECT_EQ(std::vector<uint8_t>(at(copy), at(copy) + bytes.size()), (std::vector<uint8_t>{0, 1, 1, 1, 1, 1}));
      EXPECT_EQ(read_number.values(), (std::vector<double>{0, 1, 1, 1, 1, 1}));
    }
  }
}

// Images have their channels first or last. The number of lines is not a multiple of the number that is computed
// together.
TEST_F(dnn_elements, elementwise_operations_combine_images_of_different_layouts) {
  const std::initializer_list<dtype> floats{dtype::f32, dtype::f16, dtype::bf16, dtype::f64};
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const extents e{random.between(1, 3), random.between(15, 70), random.between(1, 9), random.between(1, 40)};
    const auto image = [&] { return given(random.one_of(floats), e, random.one_of({dense, channels_last})); };
    const value scale = given(dtype::f32, {1, e[1], 1, 1}, dense),
                position = given(dtype::f32, {1, 1, e[2], e[3]}, dense);
    expect_as_defined({image() * scale + image(), relu(image()) + position}, random.one_of(floats), 4e-6);
  }
}

TEST_F(dnn_elements, reductions_of_all_kinds_match_the_definition) {
  for (auto kind = reduction_kind::sum; is_known(kind); kind = static_cast<reduction_kind>(static_cast<int>(kind) + 1))
    for (const dtype t : types)
      for (int i = 0; i < 4 && !HasFailure(); ++i) {
        const extents e = any_extents(1, 4, 7);
        const value x = given(t, e);
        expect_as_defined({reduce(kind == reduction_kind::product ? 1.0 + 0.1 * x : x, kind, some_axes(e.size()))},
                          dtype::f32, 1e-4);
      }
}

// A GPU divides sets of at least 8,192 elements into parts.
TEST_F(dnn_elements, reductions_of_few_large_sets_match_the_definition) {
  for (auto kind = reduction_kind::sum; is_known(kind); kind = static_cast<reduction_kind>(static_cast<int>(kind) + 1))
    for (const auto& [e, over] : {std::pair<extents, std::vector<std::size_t>>{{2, 20'011}, {1}},
                                  {{3, 90, 161}, {0, 2}},
                                  {{31, 7, 50}, {0, 1, 2}}}) {
      const value x = given(dtype::f32, e);
      expect_as_defined({reduce(kind == reduction_kind::product ? 1.0 + 1e-3 * x : x, kind, over)}, dtype::f32, 1e-4);
    }
}

TEST_F(dnn_elements, softmax_and_its_gradient_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      const extents e = any_extents(1, 4, 9);
      const auto over = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(e.size()) - 1));
      const value x = 8.0 * given(t, e), dy = given(t, e), y = softmax(x, over), log_y = log_softmax(x, over);
      expect_as_defined({y, log_y, softmax_gradient(dy, y, over), log_softmax_gradient(dy, log_y, over)}, dtype::f32,
                        4e-5);
    }
}

TEST_F(dnn_elements, functions_around_reductions_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      const extents e = any_extents(2, 4, 12);
      const auto over = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(e.size()) - 1));
      extents of_sets = e, row(e.size(), 1);
      of_sets[over] = 1, row.back() = e.back();
      const value x = given(t, e), residual = x + given(t, e), set = given(dtype::f32, of_sets),
                  scaled = residual * given(dtype::f32, row) + set;
      const value sum = reduce(scaled, reduction_kind::sum, {over}),
                  most = reduce(scaled, reduction_kind::maximum, {over});
      const value centered = scaled - 0.25 * sum, y = softmax(convert(centered, t), over) * set;
      // Results of elements and of sets that other nodes read, too; reductions over other axes.
      expect_as_defined({convert(residual, t), y, most - sum, reduce(y, reduction_kind::norm2, {over}),
                         reduce(y + most, reduction_kind::mean, {(over + 1) % e.size()}), tanh(most)},
                        dtype::f32, 2e-4);
    }
}

TEST_F(dnn_elements, reductions_of_long_lines_and_columns_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::bf16})
    for (const auto& [e, over] : {std::pair<extents, std::size_t>{{3, 20'000}, 1},
                                  {{2'500, 24}, 0},
                                  {{2, 700, 36}, 1},
                                  {{5, 1'023}, 1},
                                  {{400, 7}, 0},
                                  {{2, 33'000}, 1},
                                  {{35'000, 3, 8}, 1}}) {
      const value x = given(t, e), y = softmax(x, over);
      expect_as_defined({y, reduce(x, reduction_kind::mean, {over}), softmax_gradient(x, y, over)}, dtype::f32, 1e-4);
    }
}

TEST_F(dnn_elements, normalizations_and_their_gradients_match_the_definition) {
  constexpr double epsilon = 1e-3;
  for (const dtype t : types)
    for (int i = 0; i < 8 && !HasFailure(); ++i) {
      const extents e{random.between(1, 4), 2 * random.between(1, 4), random.between(2, 5), random.between(2, 40)};
      const value x = given(t, e) * 2.0 + 0.5, dy = given(t, e);
      const extents tail{1, 1, e[2], e[3]}, channel{1, e[1], 1, 1};
      const affine of_tail{given(dtype::f32, tail), given(dtype::f32, tail)},
          of_channel{given(dtype::f32, channel), given(dtype::f32, channel)};
      const auto check = [&](const normalized& n, const std::optional<affine>& a) {
        const auto g = normalization_gradient(dy, x, n, a ? std::optional(a->scale) : std::nullopt);
        std::vector<value> all{n.y, n.mean, n.inverse_deviation, g.dx};
        if (a) all.insert(all.end(), {g.dscale, g.doffset});
        expect_as_defined(all, dtype::f32, 2e-4);
      };
      check(layer_norm(x, 2, epsilon, of_tail), of_tail);
      check(layer_norm(x, 1, epsilon), {});
      check(instance_norm(x, epsilon, of_channel), of_channel);
      check(group_norm(x, 2, epsilon, of_channel), of_channel);
      check(batch_norm(x, epsilon, of_channel), of_channel);
      const normalized r = rms_norm(x, 2, epsilon, of_tail.scale);
      const auto g = rms_norm_gradient(dy, x, r, of_tail.scale);
      expect_as_defined({r.y, r.inverse_deviation, g.dx, g.dscale}, dtype::f32, 2e-4);
      const running_averages before{given(dtype::f32, channel), given(dtype::f32, channel), 0.3};
      const batch_normalized b = batch_norm(x, epsilon, of_channel, before);
      expect_as_defined({b.y, b.next_mean, b.next_variance}, dtype::f32, 1e-4);
    }
}

// The rows are dense, and have types that are normalized without copies.
TEST_F(dnn_elements, normalizations_of_rows_of_half_types_match_the_definition) {
  const std::initializer_list<dtype> floats{dtype::f32, dtype::f16, dtype::bf16};
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const dtype t = random.one_of(floats), other = random.one_of({t, random.one_of(floats)});
    // Some rows have elements for all threads of a block; some are longer than the kernels for gradients of rows allow.
    const std::int64_t width = i == 0       ? 8 * random.between(1025, 4096)
                               : i == 1     ? 8 * random.between(1, 1024)
                               : i % 4 == 2 ? random.one_of<std::int64_t>({128, 256, 1024, 2048, 4096, 8192})
                                            : 8 * random.between(1, 40);
    const extents e{random.between(1, 5), random.between(1, width > 500 ? 4 : 40), width}, row{1, 1, width};
    stored_tensor& rows = stored(t, e, dense);
    const double mean = random.one_of({0.0, 0.5, 30.0});
    rows.fill([&] { return mean + random.value(); });
    const value x(rows.operand<access_mode::read>()), dy = given(other, e, dense);
    const affine a{given(random.one_of(floats), row, dense), given(random.one_of(floats), row, dense)};
    const bool rms = random.between(0, 1) == 0, scaled = random.between(0, 3) != 0;
    const normalized n = rms ? rms_norm(x, 1, 1e-3, scaled ? std::optional(a.scale) : std::nullopt)
                             : layer_norm(x, 1, 1e-3, scaled ? std::optional(a) : std::nullopt);
    const auto scale = scaled ? std::optional(a.scale) : std::nullopt;
    const auto g = rms ? rms_norm_gradient(dy, x, n, scale) : normalization_gradient(dy, x, n, scale);
    const double tolerance = t == dtype::f32 && other == dtype::f32 ? 2e-5 : 2e-4;
    const dtype to = random.one_of(floats);
    const value y = random.between(0, 1) == 0 ? n.y : convert(n.y, to);
    expect_as_defined({y}, to, tolerance);
    expect_as_defined({y, n.inverse_deviation, g.dx}, to, tolerance);
    if (scaled) expect_as_defined({convert(g.dx, to), g.dscale, rms ? g.dscale : g.doffset}, to, 5e-4);
  }
}

// The channels are neighbors in memory, as is usual in training with half types.
TEST_F(dnn_elements, normalizations_of_channels_of_half_types_match_the_definition) {
  const std::initializer_list<dtype> floats{dtype::f32, dtype::f16, dtype::bf16};
  for (int i = 0; i < 24 && !HasFailure(); ++i) {
    const dtype t = random.one_of(floats), other = random.one_of({t, random.one_of(floats)});
    // Some images have more channels than a block computes at once, and some have rows in several parts.
    const std::int64_t channels = i == 0 ? 8 * random.between(33, 40) : i == 1 ? 8 : 8 * random.between(1, 8);
    extents e{random.between(1, 4), channels, random.between(1, 20), random.between(1, 20)};
    if (i == 1) e = {random.between(2, 3), channels, 97, 101};  // more elements than a block holds
    if (i % 8 == 2) e = {random.between(1, 300), channels};
    const extents channel = e.size() == 2 ? extents{1, channels} : extents{1, channels, 1, 1};
    const double mean = random.one_of({0.0, 0.5, 30.0});
    stored_tensor& image = stored(t, e, channels_last);
    image.fill([&] { return mean + random.value(); });
    const value x(image.operand<access_mode::read>()), dy = given(other, e, channels_last);
    const affine a{given(random.one_of(floats), channel), given(dtype::f32, channel)};
    const bool scaled = random.between(0, 3) != 0, running = random.between(0, 1) == 0;
    const running_averages before{given(dtype::f32, channel), given(random.one_of(floats), channel), 0.3};
    const batch_normalized n =
        batch_norm(x, 1e-3, scaled ? std::optional(a) : std::nullopt, running ? std::optional(before) : std::nullopt);
    const auto g = normalization_gradient(dy, x, n, scaled ? std::optional(a.scale) : std::nullopt);
    const dtype to = random.one_of(floats);
    const value y = random.between(0, 1) == 0 ? n.y : convert(n.y, to);
    expect_written({y}, {&stored(to, e, channels_last)}, 1e-4);
    expect_as_defined({relu(y), n.mean, n.inverse_deviation}, to, 1e-4);
    if (running) expect_as_defined({n.y, n.next_mean, n.next_variance}, dtype::f32, 1e-4);
    expect_written({g.dx}, {&stored(to, e, channels_last)}, 5e-4);
    if (scaled) expect_as_defined({convert(g.dx, to), g.dscale, g.doffset}, to, 5e-4);
    // The statistics come from memory, and dy is a result of the graph.
    const normalized earlier{x, given(dtype::f32, channel), given(dtype::f32, channel)};
    const auto later =
        normalization_gradient(dy * 2.0 + 0.5, x, earlier, scaled ? std::optional(a.scale) : std::nullopt);
    expect_as_defined({later.dx}, to, 1e-3);
  }
}

TEST_F(dnn_elements, shape_operations_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::i8, dtype::i32})
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      const extents e{random.between(1, 6), random.between(2, 6), random.between(1, 9)};
      const value x = given(t, e), y = given(t, {e[0], random.between(1, 4), e[2]});
      const value both = concatenate({x, y, x}, 1);
      expect_as_defined({transpose(x, {2, 0, 1}), reshape(x, {e[0] * e[1], e[2]}),
                         reshape(transpose(x, {1, 2, 0}), {e[1], e[2] * e[0]}), both, slice(both, 1, 1, e[1]),
                         slice(x, 2, e[2] - 1, 1)},
                        t, 0);
    }
}

// A graph is a chain of up to 10 operations on images.
TEST_F(dnn_elements, random_graphs_match_the_definition) {
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    extents e{random.between(1, 3), 2 * random.between(1, 3), random.between(5, 9), random.between(5, 9)};
    std::vector<value> made{given(random.one_of({dtype::f32, dtype::f16, dtype::bf16}), e)};
    const std::int64_t length = random.between(2, 10);
    for (std::int64_t k = 1; k < length; ++k) {
      const value& x = made[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(made.size()) - 1))];
      const value& last = made.back();
      const auto is = last.extents();
      switch (random.between(0, 9)) {
        case 0:
          made.push_back(convolution(convert(last, dtype::f16), given(dtype::f16, {4, is[1], 3, 3}), {.padding = 1}));
          break;
        case 1:
          made.push_back(max_pool(last, 2, {.padding = 1, .stride = 1}));
          break;
        case 2:
          made.push_back(batch_norm(last, 1e-2).y);
          break;
        case 3:
          made.push_back(layer_norm(last, 2, 1e-2).y);
          break;
        case 4:
          made.push_back(softmax(last, static_cast<std::size_t>(random.between(0, 3))));
          break;
        case 5:
          made.push_back(last * reduce(last, reduction_kind::mean, {2, 3}));
          break;
        case 6:
          made.push_back(convert(silu(last), random.one_of({dtype::f16, dtype::bf16})));
          break;
        case 7:
          made.push_back(gelu(last) - channels(given(dtype::f32, {is[1]})));
          break;
        case 8:
          made.push_back(transpose(last, {0, 1, 3, 2}));
          break;
        default:
          made.push_back(std::equal(x.extents().begin(), x.extents().end(), is.begin(), is.end()) ? max(x, last)
                                                                                                  : tanh(last));
      }
      ASSERT_EQ(made.back().why_refused(), "");
    }
    // Some results overwrite tensors that the graph reads.
    const std::vector<value> results{made.back(), made[made.size() / 2]};
    std::vector<stored_tensor*> to;
    for (const value& v : results) {
      const extents is(v.extents().begin(), v.extents().end());
      std::vector<stored_tensor*> read = stored_with(is);
      std::erase_if(read, [&](const stored_tensor* t) { return std::find(to.begin(), to.end(), t) != to.end(); });
      to.push_back(read.empty() || random.between(0, 2) == 0 ? &stored(dtype::f32, is) : one_of(read));
    }
    expect_written(results, to, 5e-3);
  }
}

}  // namespace
}  // namespace troupe::dnn
