// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A factor of 2-byte floats and a narrower one, by the template for Hopper. Other engines compute the same products.
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;

constexpr dtype narrow_types[] = {dtype::i8, dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1x2};
constexpr dtype wide_types[] = {dtype::f16, dtype::bf16};

class cutlass_mixed_gemm : public gemm_suite {
 protected:
  // Each tile of the template, and each other choice.
  static constexpr plan tiles[] = {{.tile_m = 128, .tile_n = 16},
                                   {.tile_m = 128, .tile_n = 32},
                                   {.tile_m = 128, .tile_n = 64},
                                   {.tile_n = 96},
                                   {.tile_n = 128},
                                   {.tile_m = 256, .tile_n = 16},
                                   {.tile_m = 256, .tile_n = 32},
                                   {.schedule = schedule::cooperative, .tile_m = 64, .tile_n = 16},
                                   {.schedule = schedule::cooperative, .tile_m = 64, .tile_n = 32},
                                   {.schedule = schedule::cooperative, .tile_m = 64, .tile_n = 64},
                                   {.schedule = schedule::ping_pong, .tile_n = 64},
                                   {.schedule = schedule::ping_pong, .tile_n = 128},
                                   {.cluster_m = 2, .tile_n = 128},
                                   {.cluster_n = 2, .tile_n = 64}};
  static constexpr plan large_tiles[] = {{.tile_m = 256, .tile_n = 64},
                                         {.tile_n = 160},
                                         {.tile_n = 192},
                                         {.tile_n = 224},
                                         {.tile_n = 256},
                                         {.schedule = schedule::ping_pong, .tile_n = 192},
                                         {.schedule = schedule::ping_pong, .tile_n = 256},
                                         {.cluster_m = 2, .tile_n = 256}};
  plan any_plan(const product_form& form) {
    const bool scaled = form.a_scales || form.b_scales, batched = form.batch > 1;
    const std::size_t all = std::size(tiles) + (scaled ? 0 : std::size(large_tiles)),
                      i = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(all) - 1));
    plan p = i < std::size(tiles) ? tiles[i] : large_tiles[i - std::size(tiles)];
    // Contiguous lines are copied 64 at a time.
    const bool lines = form.a_stored == storing::tidy_columns || form.b_stored == storing::tidy_rows;
    if (lines && p.tile_n % 64 != 0) p = {.tile_n = 64};
    // Scales of the wide factor are for small tiles.
    const bool wide_scaled = bytes_of(form.a) == 2 ? form.a_scales.has_value() : form.b_scales.has_value();
    if (wide_scaled && p.tile_n > 64) p = {.tile_n = 64};
    // Four groups have no registers for scaled sums of more columns.
    if (scaled && p.tile_n == 32 && (p.tile_m == 64 || p.tile_m == 256)) p.tile_n = 16;
    // They take 4-bit factors in long stages, which scale neither the wide factor nor small blocks.
    const auto is_small = [](const std::optional<scale_form>& s) { return s && s->block.terms < 64; };
    if ((wide_scaled || is_small(form.a_scales) || is_small(form.b_scales)) && p.tile_n == 16) p.tile_m = 128;
    const bool may_divide =
        p.cluster_m + p.cluster_n == 0 && p.tile_n != 160 && p.tile_n != 224 && p.schedule != schedule::ping_pong;
    if (!batched && may_divide && random.between(0, 2) == 0) p.divided = decision::yes;
    return p;
  }
  // The host engine has one plan for each product.
  plan on_hopper(plan p) const {
    if (!engine->is_cuda()) return {};
    p.family = family::hopper;
    return p;
  }
  // Lines of factors begin at multiples of 16 bytes.
  product_form any_mixed(dtype narrow, dtype wide, bool of_b, dtype d) {
    product_form p{of_b ? wide : narrow,   of_b ? narrow : wide,   d,
                   random.between(1, 300), random.between(1, 300), 32 * random.between(1, 20)};
    p.a_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns;
    // Lines of 2-byte floats may be contiguous.
    if (random.between(0, 3) == 0) {
      (of_b ? p.m : p.n) += 8 - (of_b ? p.m : p.n) % 8;
      (of_b ? p.a_stored : p.b_stored) = of_b ? storing::tidy_columns : storing::tidy_rows;
    }
    p.d_stored = random.one_of({storing::tidy_rows, storing::tidy_columns, storing::shifted});
    return p;
  }
  template <class Make>
  void expect_on_hopper(const product_form& p, const plan& wanted, Make&& make, double tolerance, bool pairs = false) {
    expect_right(p, make, tolerance, pairs, [&](auto&&... parts) {
      gemm r = request_of(parts...);
      r.plan = on_hopper(wanted);
      // Scales are powers of 2: numbers times their scales are exact, too.
      if (r.a_scales || r.b_scales) r.accumulation = random.one_of({accumulation::precise, accumulation::fast});
      return r;
    });
  }
  template <class Make>
  void expect_on_hopper(const product_form& p, Make&& make, double tolerance) {
    expect_on_hopper(p, any_plan(p), make, tolerance);
  }
  expression reduced(const expression& x, reduction how, reduction_scope over, const product_form& p) {
    return expression::reducing(x, how, over,
                                operand(dtype::f32, p.batch, over == reduction_scope::row ? p.m : 1,
                                        over == reduction_scope::column ? p.n : 1));
  }
};

TEST_F(cutlass_mixed_gemm, all_types_on_either_side_are_exact_if_the_sums_are) {
  for (const dtype narrow : narrow_types)
    for (const dtype wide : wide_types)
      for (const bool of_b : {true, true, false})
        for (int i = 0; i < turns(4) && !HasFailure(); ++i)
          expect_on_hopper(any_mixed(narrow, wide, of_b, any_float()), [](auto, auto) { return expression(acc); }, 0);
}

TEST_F(cutlass_mixed_gemm, every_tile_matches_the_reference) {
  for (const auto* all : {&tiles[0], &large_tiles[0]})
    for (std::size_t i = 0; i < (all == tiles ? std::size(tiles) : std::size(large_tiles)) && !HasFailure(); ++i)
      for (const dtype narrow : {dtype::i8, dtype::f4e2m1x2}) {
        product_form p = any_mixed(narrow, dtype::bf16, true, dtype::bf16);
        p.m += 200, p.a_stored = storing::tidy_rows;
        expect_on_hopper(p, all[i], [](auto, auto) { return expression(acc); }, 0);
      }
}

// Memory beyond the last term has other numbers.
TEST_F(cutlass_mixed_gemm, k_may_end_anywhere_within_a_stage) {
  for (const dtype narrow : narrow_types) {
    const plan chosen = on_hopper(any_plan({dtype::bf16, narrow, dtype::f32, 0, 0, 0}));
    for (const std::int64_t k : {1, 2, 3, 17, 63, 65, 100, 127, 129, 255, 257}) {
      const std::int64_t step = matmul::terms_in(narrow), m = random.between(1, 80), n = random.between(1, 200),
                         terms = (k + step - 1) / step * step, line = (terms + 31) / 32 * 32 + 32;
      test_factor a({dtype::bf16, 1, m, line, true, storing::tidy_rows}, random),
          b({narrow, 1, n, line, false, storing::tidy_columns}, random);
      stored_matrices d(dtype::f32, 1, m, n, random);
      const auto first = [](const in_any& whole, std::size_t index, std::int64_t count) {
        tensor_shape s = whole.shape();
        s.extents[index] = count;
        return in_any(whole.range(), s, whole.type());
      };
      gemm r{.a = first(a.elements(false), 1, terms),
             .b = first(b.elements(false), 0, terms / step),
             .d = d.operand<access_mode::write>(false)};
      r.plan = chosen;
      SCOPED_TRACE(story(r));
      run(r);
      if (HasFatalFailure()) return;
      const std::vector<double> x = a.values(0), y = b.values(0);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t l = 0; l < terms; ++l)
            sum += x[static_cast<std::size_t>(i * line + l)] * y[static_cast<std::size_t>(j * line + l)];
          ASSERT_EQ(d.get(0, i, j).real, sum) << "d(" << i << ", " << j << "), k = " << terms;
        }
    }
  }
}

TEST_F(cutlass_mixed_gemm, scales_may_have_blocks_of_any_size) {
  for (const dtype narrow : narrow_types)
    for (const std::int64_t block : {0, 16, 32, 64, 128})
      for (int which = 0; which < 3; ++which) {
        // Small blocks of the wide factor are for another template.
        if (leaves_out() || (which != 0 && (block == 16 || block == 32))) continue;
        product_form p =
            any_mixed(narrow, random.one_of({dtype::f16, dtype::bf16}), random.between(0, 3) != 0, dtype::f32);
        // Extents for which the number of scales identifies the block.
        p.k = block == 0 ? 32 * random.between(3, 9) : std::max<std::int64_t>(32, block) * 5;
        const auto scales = [&] {
          const std::int64_t of_block = block == 0 ? p.k : block;
          return scale_form{random.one_of({dtype::f32, dtype::f16, dtype::bf16, dtype::f8e8m0, dtype::f8e4m3}),
                            {block != 0 && random.between(0, 2) == 0 ? of_block : 1, of_block}};
        };
        const bool of_b = p.b == narrow;
        if (which != 1) (of_b ? p.b_scales : p.a_scales) = scales();
        if (which != 0) (of_b ? p.a_scales : p.b_scales) = scales();
        expect_on_hopper(p, [](auto, auto) { return expression(acc); }, 0);
        if (HasFailure()) return;
      }
}

// Scales that multiply the numbers, where that is exact, leave registers for large tiles.
TEST_F(cutlass_mixed_gemm, f4_factors_have_8_bit_scales_in_large_tiles) {
  for (const std::int64_t block : {16, 32, 64, 128}) {
    product_form p = any_mixed(dtype::f4e2m1x2, block == 32 ? dtype::f16 : dtype::bf16, true, dtype::f32);
    p.k = std::max<std::int64_t>(32, block) * 5, p.b_scales = scale_form{dtype::f8e4m3, {1, block}};
    for (const std::uint16_t columns : {192, 256}) {
      expect_on_hopper(p, {.tile_n = columns}, [](auto, auto) { return expression(acc); }, 0);
      if (HasFailure()) return;
    }
  }
}

TEST_F(cutlass_mixed_gemm, batches_have_their_own_scales) {
  for (const bool shared : {false, true}) {
    product_form p = any_mixed(dtype::i8, dtype::bf16, true, dtype::f32);
    p.k = 384, p.batch = 3, p.shares_b = shared;
    p.b_scales = scale_form{dtype::f32, {1, 128}};
    expect_on_hopper(p, [](auto, auto) { return expression(acc); }, 0);
  }
}

TEST_F(cutlass_mixed_gemm, epilogues_read_alpha_beta_rows_and_columns) {
  for (const dtype narrow : narrow_types)
    for (const bool of_b : {true, false}) {
      const product_form p = any_mixed(narrow, dtype::bf16, of_b, any_float());
      expect_on_hopper(
          p,
          [&](auto rows, auto columns) {
            return -0.5 * acc + 2 * loaded(op::load, p.d, p.batch, rows, columns) +
                   loaded(op::load_row, dtype::f32, 1, 1, columns) * loaded(op::load_column, dtype::f32, 1, rows, 1);
          },
          rounding_of(p, 2));
    }
}

TEST_F(cutlass_mixed_gemm, rows_columns_and_all_elements_are_reduced) {
  for (const reduction_scope over : {reduction_scope::row, reduction_scope::column, reduction_scope::all})
    for (const bool of_b : {true, false})
      for (const reduction how : {reduction::sum, reduction::absolute_maximum}) {
        if (leaves_out()) continue;
        const product_form p = any_mixed(dtype::i8, dtype::bf16, of_b, dtype::bf16);
        const std::int64_t terms = over == reduction_scope::row      ? p.n
                                   : over == reduction_scope::column ? p.m
                                                                     : p.m * p.n;
        expect_on_hopper(
            p, [&](auto, auto) { return reduced(0.125 * acc, how, over, p); },
            1e-6 + 0x1p-23 * 18 * 0.125 * static_cast<double>(terms) * static_cast<double>(p.k));
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_mixed_gemm, paired_epilogues_combine_the_two_halves) {
  for (const dtype narrow : narrow_types)
    for (const bool scaled : {false, true}) {
      product_form p = any_mixed(narrow, dtype::bf16, true, dtype::f32);
      if (scaled) p.k = 640, p.b_scales = scale_form{dtype::bf16, {1, random.one_of({32L, 128L})}};
      expect_on_hopper(p, {}, [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
      expect_on_hopper(
          any_mixed(narrow, dtype::f16, false, dtype::f32), {},
          [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
      if (HasFailure()) return;
    }
}

// A pair of 8-bit floats with scales of blocks is no mixed product, but its columns have the same layout.
TEST_F(cutlass_mixed_gemm, scaled_8_bit_floats_may_have_paired_epilogues) {
  for (const std::int64_t lines : {1, 128}) {
    product_form p{dtype::f8e4m3, dtype::f8e4m3, dtype::f32, random.between(1, 300), 128 * random.between(1, 2), 640};
    p.a_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns;
    p.a_scales = scale_form{dtype::f32, {1, 128}}, p.b_scales = scale_form{dtype::f32, {lines, 128}};
    expect_on_hopper(p, {}, [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
  }
}

// Random numbers, like weights; differences are within a float's rounding.
TEST_F(cutlass_mixed_gemm, sums_are_as_precise_as_floats) {
  for (const dtype narrow : narrow_types) {
    constexpr std::int64_t m = 33, n = 130, k = 704;
    test_factor a({dtype::bf16, 1, m, k, true, storing::tidy_rows}, random),
        b({narrow, 1, n, k, false, storing::tidy_columns}, random);
    a.make_random(random);
    if (narrow != dtype::f4e2m1x2 && narrow != dtype::i8) b.make_random(random);
    stored_matrices d(dtype::f64, 1, m, n, random);
    gemm r{.a = a.elements(false), .b = b.elements(false), .d = d.operand<access_mode::write>(false)};
    r.plan = on_hopper({});
    run(r);
    SCOPED_TRACE(to_string(narrow));
    expect_sums(d, a, b, m, n, k, 0x1p-23);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace troupe::cutlass
