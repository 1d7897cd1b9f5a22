// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares random numbers, dropout, normalization across channels, resampling, pooling with indexes, and block scaling
// with the reference in double precision.
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16};

class dnn_images : public dnn_numerics {
 protected:
  extents any_image(std::size_t spatial, std::int64_t longest) {
    extents e{random.between(1, 3), random.between(1, 6)};
    for (std::size_t i = 0; i < spatial; ++i) e.push_back(random.between(1, longest));
    return e;
  }
  std::uint64_t any_number() { return static_cast<std::uint64_t>(random.between(0, std::int64_t{1} << 62)); }
  // Returns a seed that is passed by value or is in memory.
  random_seed any_seed() {
    if (random.between(0, 1) == 0) return {any_number(), any_number()};
    stored_tensor& words = stored(random.one_of({dtype::u32, dtype::i32}), {random.one_of<std::int64_t>({2, 4})});
    const bool is_signed = words.type() == dtype::i32;
    words.fill([&] {
      const std::int64_t word = random.between(0, 0xffffffff);
      return static_cast<double>(is_signed ? static_cast<std::int32_t>(word) : word);
    });
    return random_seed(value(words.operand<access_mode::read>()), any_number());
  }
  static extents extents_of(const value& v) { return {v.extents().begin(), v.extents().end()}; }
};

TEST_F(dnn_images, random_numbers_match_the_definition) {
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    extents e(static_cast<std::size_t>(random.between(1, 5)));
    for (std::int64_t& n : e) n = random.between(1, 6);
    if (random.between(0, 2) == 0) e.back() = random.between(500, 1500);
    // Uniform and Bernoulli numbers have the same bits on every engine.
    expect_as_defined({random_uniform(e, any_seed()), random_bernoulli(e, std::fabs(random.value()), any_seed())},
                      dtype::f32, 0);
    expect_as_defined({random_normal(e, any_seed())}, random.one_of({dtype::f32, dtype::f64, dtype::f16}), 3e-6);
    // Operations that share the elementwise kernel with random numbers may make it process elements in any order.
    const value x = given(random.one_of({dtype::f32, dtype::f64, dtype::f16}), e);
    expect_as_defined({x + random_uniform(e, any_seed()) * random_normal(e, any_seed())}, dtype::f32, 5e-6);
  }
}

TEST_F(dnn_images, random_numbers_can_be_broadcast_and_used_twice) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const extents e = any_image(2, 9);
    const value row = random_uniform({1, e[1], 1, e[3]}, any_seed()), x = given(dtype::f32, e);
    std::vector<value> all{x * row, reduce(row, reduction_kind::sum, {1}), transpose(row, {0, 1, 3, 2})};
    // The sum needs more random sequences than an elementwise kernel can have.
    value sum = x;
    for (int k = 0; k < 11; ++k) sum = sum + random_bernoulli(e, 0.5, any_seed());
    all.push_back(sum);
    expect_as_defined(all, dtype::f32, 1e-5);
  }
}

TEST_F(dnn_images, dropout_and_its_gradient_use_one_mask) {
  for (const dtype t : types)
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      const extents e = any_image(2, 20);
      const value x = given(t, e), dy = given(t, e);
      const random_seed seed = any_seed();
      const double probability = random.one_of({0.0, 0.1, 0.5, 0.9});
      expect_as_defined({dropout(x, probability, seed), dropout_gradient(dy, probability, seed)}, t, 1e-6);
      expect_as_defined({dropout(relu(x) * 3.0, probability, seed)}, t, 1e-6);
    }
}

TEST_F(dnn_images, local_response_norm_matches_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      extents e = any_image(static_cast<std::size_t>(random.between(0, 3)), 8);
      e[1] = random.between(1, 40);
      if (random.between(0, 4) == 0 && e.size() == 3) e.back() = 1500;
      const value x = given(t, e), dy = given(t, e);
      const response_norm_options o{.size = random.between(1, 9),
                                    .alpha = random.one_of({1e-4, 0.5, 2.0, 0.0}),
                                    .beta = random.one_of({0.75, 0.5, 1.0, -0.3}),
                                    .k = random.one_of({2.0, 1.0, 0.3})};
      expect_as_defined({local_response_norm(x, o), local_response_norm_gradient(dy, x, o)}, t, 2e-5);
    }
}

TEST_F(dnn_images, resampling_and_its_gradient_match_the_definition) {
  for (const dtype t : types)
    for (const auto kind : {resampling_kind::nearest, resampling_kind::linear, resampling_kind::cubic})
      for (int i = 0; i < 12 && !HasFailure(); ++i) {
        const auto spatial = static_cast<std::size_t>(random.between(1, 3));
        const std::int64_t longest = spatial == 1 ? 60 : spatial == 2 ? 16 : 7;
        const extents e = any_image(spatial, longest);
        const extents of_x(e.begin() + 2, e.end());
        extents to(spatial);
        for (std::int64_t& n : to) n = random.between(1, longest);
        if (random.between(0, 3) == 0) to = of_x;
        const resampling_options o{kind, static_cast<resampling_coordinates>(random.between(0, 3)),
                                   static_cast<nearest_rounding>(random.between(0, 3))};
        const value x = given(t, e), y = resample(x, to, o);
        ASSERT_EQ(y.why_refused(), "");
        expect_as_defined({y, resample_gradient(given(t, extents_of(y)), of_x, o)}, t, 2e-5);
      }
}

TEST_F(dnn_images, pooling_with_indexes_and_its_gradient_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 15 && !HasFailure(); ++i) {
      const auto spatial = static_cast<std::size_t>(random.between(1, 3));
      extents e = any_image(spatial, 6);
      for (std::size_t k = 2; k < e.size(); ++k) e[k] += 3;
      const pooling_options o{
          .padding = random.between(0, 1), .padding_after = random.between(0, 1), .stride = random.between(1, 3)};
      const std::int64_t window = random.between(2, 3);
      const value x = given(t, e);
      const pooled p = max_pool_with_indexes(x, window, o);
      ASSERT_EQ(p.y.why_refused(), "");
      const extents of_y = extents_of(p.y);
      expect_as_defined({p.y, p.indexes}, random.one_of({dtype::i32, dtype::f64}), 0);
      const value dy = given(t, of_y);
      expect_as_defined({max_pool_index_gradient(dy, p.indexes, e, window, o)}, t, 1e-5);
      // The indexes are read from memory, and some are outside all windows.
      stored_tensor& wild = stored(dtype::i32, of_y);
      wild.fill([&] {
        return static_cast<double>(random.between(0, 5) == 0 ? random.between(-(1ll << 31), (1ll << 31) - 1)
                                                             : random.between(0, 60));
      });
      const value indexes(wild.operand<access_mode::read>());
      expect_as_defined({max_pool_index_gradient(dy, indexes, e, window, o)}, t, 1e-5);
    }
}

TEST_F(dnn_images, quantized_blocks_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      extents e(static_cast<std::size_t>(random.between(1, 4)));
      for (std::int64_t& n : e) n = random.between(1, 7);
      const auto along = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(e.size()) - 1));
      e[along] = random.between(1, 100);
      const block_options o{.along = along,
                            .block = random.one_of<std::int64_t>({32, 16, 1, 128, 7}),
                            .elements = random.one_of({dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1}),
                            .scales = random.one_of({dtype::f8e8m0, dtype::f8e4m3, dtype::f32})};
      const value x = given(t, e) * random.one_of({1.0, 0x1p-30, 0x1p20, 0.0});
      const block_scaled q = quantize_blocks(x, o);
      // All engines round equal numbers once, so no difference is allowed.
      expect_as_defined({q.elements, q.scales}, dtype::f32, 0);
      expect_as_defined({q.elements}, o.elements, 0);
      expect_as_defined({q.scales}, o.scales, 0);
      const value back = dequantize_blocks(q.elements, q.scales, along, o.block);
      expect_as_defined({back}, dtype::f32, 1e-6);
      const value elements = given(o.elements, e), scales = given(o.scales, extents_of(q.scales));
      expect_as_defined({dequantize_blocks(elements, scales, along, o.block)}, t, 1e-6);
    }
}

}  // namespace
}  // namespace troupe::dnn
