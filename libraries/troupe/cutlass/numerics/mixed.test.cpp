// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products of 2-byte floats and a narrower type, by the template for Hopper, with the reference. Other engines
// compute the same products.
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
  // Plans with each tile of the template, and with its other choices. Large tiles have no registers for scales.
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
  plan any_plan(const test_product& product) {
    const bool scaled = product.a_scales || product.b_scales, batched = product.batch > 1;
    const std::size_t all = std::size(tiles) + (scaled ? 0 : std::size(large_tiles)),
                      i = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(all) - 1));
    plan p = i < std::size(tiles) ? tiles[i] : large_tiles[i - std::size(tiles)];
    // Contiguous lines are copied 64 at a time, so the tile must be a multiple of 64.
    const bool lines = product.a_stored == storing::tidy_columns || product.b_stored == storing::tidy_rows;
    if (lines && p.tile_n % 64 != 0) p = {.tile_n = 64};
    // Only small tiles can scale the wide factor.
    const bool wide_scaled = bytes_of(product.a) == 2 ? product.a_scales.has_value() : product.b_scales.has_value();
    if (wide_scaled && p.tile_n > 64) p = {.tile_n = 64};
    // Four warp groups have no registers for the scaled sums of more columns.
    if (scaled && p.tile_n == 32 && (p.tile_m == 64 || p.tile_m == 256)) p.tile_n = 16;
    // Four warp groups have long stages for 4-bit factors, which allow no scales of the wide factor or of small blocks.
    const auto is_small = [](const std::optional<test_scales>& s) { return s && s->block.k < 64; };
    if ((wide_scaled || is_small(product.a_scales) || is_small(product.b_scales)) && p.tile_n == 16) p.tile_m = 128;
    const bool may_divide =
        p.cluster_m + p.cluster_n == 0 && p.tile_n != 160 && p.tile_n != 224 && p.schedule != schedule::ping_pong;
    if (!batched && may_divide && random.between(0, 2) == 0) p.divided = decision::yes;
    return p;
  }
  // Returns the plan for the template; on the host engine, which has no plans, an empty plan.
  plan on_hopper(plan p) const {
    if (!engine->is_cuda()) return {};
    p.family = family::hopper;
    return p;
  }
  // Returns a random product whose lines of factors begin at multiples of 16 bytes. `of_b`: B is the narrow factor.
  test_product any_mixed(dtype narrow, dtype wide, bool of_b, dtype d) {
    test_product p{of_b ? wide : narrow,   of_b ? narrow : wide,   d,
                   random.between(1, 300), random.between(1, 300), 32 * random.between(1, 20)};
    p.a_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns;
    // In some cases lines of the wide factor, instead of terms, are contiguous.
    if (random.between(0, 3) == 0) {
      (of_b ? p.m : p.n) += 8 - (of_b ? p.m : p.n) % 8;
      (of_b ? p.a_stored : p.b_stored) = of_b ? storing::tidy_columns : storing::tidy_rows;
    }
    p.d_stored = random.one_of({storing::tidy_rows, storing::tidy_columns, storing::shifted});
    return p;
  }
  template <class Make>
  void expect_on_hopper(const test_product& p, const plan& wanted, Make&& make, double tolerance, bool pairs = false) {
    expect_right(p, make, tolerance, pairs, [&](auto&&... parts) {
      gemm r = request_of(parts...);
      r.options.plan = on_hopper(wanted);
      // Scales are powers of 2, so elements times their scales are exact, too.
      if (r.a_scales || r.b_scales) r.options.accumulation = random.one_of({accumulation::precise, accumulation::fast});
      return r;
    });
  }
  template <class Make>
  void expect_on_hopper(const test_product& p, Make&& make, double tolerance) {
    expect_on_hopper(p, any_plan(p), make, tolerance);
  }
  expression reduced(const expression& x, reduction how, reduction_scope over, const test_product& p) {
    return expression::reducing(x, how, over,
                                operand(dtype::f32, p.batch, over == reduction_scope::row ? p.m : 1,
                                        over == reduction_scope::column ? p.n : 1));
  }
};

TEST_F(cutlass_mixed_gemm, narrow_factors_on_either_side_are_exact_for_small_integers) {
  for (const dtype narrow : narrow_types)
    for (const dtype wide : wide_types)
      for (const bool of_b : {true, true, false})
        for (int i = 0; i < iterations(4) && !HasFailure(); ++i)
          expect_on_hopper(any_mixed(narrow, wide, of_b, any_float()), [](auto, auto) { return expression(acc); }, 0);
}

TEST_F(cutlass_mixed_gemm, every_tile_matches_the_reference) {
  for (const auto* all : {&tiles[0], &large_tiles[0]})
    for (std::size_t i = 0; i < (all == tiles ? std::size(tiles) : std::size(large_tiles)) && !HasFailure(); ++i)
      for (const dtype narrow : {dtype::i8, dtype::f4e2m1x2}) {
        test_product p = any_mixed(narrow, dtype::bf16, true, dtype::bf16);
        p.m += 200, p.a_stored = storing::tidy_rows;
        expect_on_hopper(p, all[i], [](auto, auto) { return expression(acc); }, 0);
      }
}

// Elements beyond the last term are not 0 in memory.
TEST_F(cutlass_mixed_gemm, k_need_not_be_a_multiple_of_a_stage) {
  for (const dtype narrow : narrow_types) {
    const plan chosen = on_hopper(any_plan({dtype::bf16, narrow, dtype::f32, 0, 0, 0}));
    for (const std::int64_t k : {1, 2, 3, 17, 63, 65, 100, 127, 129, 255, 257}) {
      const std::int64_t step = matmul::k_per_element(narrow), m = random.between(1, 80), n = random.between(1, 200),
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
      r.options.plan = chosen;
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
        // The other template computes products with small blocks of the wide factor.
        if (skips_case() || (which != 0 && (block == 16 || block == 32))) continue;
        test_product p =
            any_mixed(narrow, random.one_of({dtype::f16, dtype::bf16}), random.between(0, 3) != 0, dtype::f32);
        // k is such that the number of scales identifies the block.
        p.k = block == 0 ? 32 * random.between(3, 9) : std::max<std::int64_t>(32, block) * 5;
        const auto scales = [&] {
          const std::int64_t of_block = block == 0 ? p.k : block;
          return test_scales{random.one_of({dtype::f32, dtype::f16, dtype::bf16, dtype::f8e8m0, dtype::f8e4m3}),
                             {block != 0 && random.between(0, 2) == 0 ? of_block : 1, of_block}};
        };
        const bool of_b = p.b == narrow;
        if (which != 1) (of_b ? p.b_scales : p.a_scales) = scales();
        if (which != 0) (of_b ? p.a_scales : p.b_scales) = scales();
        expect_on_hopper(p, [](auto, auto) { return expression(acc); }, 0);
        if (HasFailure()) return;
      }
}

// Where elements times their scales are exact, the kernel scales elements instead of sums: so large tiles have enough
// registers.
TEST_F(cutlass_mixed_gemm, f4_factors_with_8_bit_scales_match_the_reference_in_large_tiles) {
  for (const std::int64_t block : {16, 32, 64, 128}) {
    test_product p = any_mixed(dtype::f4e2m1x2, block == 32 ? dtype::f16 : dtype::bf16, true, dtype::f32);
    p.k = std::max<std::int64_t>(32, block) * 5, p.b_scales = test_scales{dtype::f8e4m3, {1, block}};
    for (const std::uint16_t columns : {192, 256}) {
      expect_on_hopper(p, {.tile_n = columns}, [](auto, auto) { return expression(acc); }, 0);
      if (HasFailure()) return;
    }
  }
}

TEST_F(cutlass_mixed_gemm, products_of_a_batch_have_their_own_or_shared_scales) {
  for (const bool shared : {false, true}) {
    test_product p = any_mixed(dtype::i8, dtype::bf16, true, dtype::f32);
    p.k = 384, p.batch = 3, p.shares_b = shared;
    p.b_scales = test_scales{dtype::f32, {1, 128}};
    expect_on_hopper(p, [](auto, auto) { return expression(acc); }, 0);
  }
}

TEST_F(cutlass_mixed_gemm, epilogues_may_load_matrices_rows_and_columns) {
  for (const dtype narrow : narrow_types)
    for (const bool of_b : {true, false}) {
      const test_product p = any_mixed(narrow, dtype::bf16, of_b, any_float());
      expect_on_hopper(
          p,
          [&](auto rows, auto columns) {
            return -0.5 * acc + 2 * loaded(op::load, p.d, p.batch, rows, columns) +
                   loaded(op::load_row, dtype::f32, 1, 1, columns) * loaded(op::load_column, dtype::f32, 1, rows, 1);
          },
          rounding_of(p, 2));
    }
}

TEST_F(cutlass_mixed_gemm, reductions_of_rows_columns_and_all_elements_match_the_reference) {
  for (const reduction_scope over : {reduction_scope::row, reduction_scope::column, reduction_scope::all})
    for (const bool of_b : {true, false})
      for (const reduction how : {reduction::sum, reduction::absolute_maximum}) {
        if (skips_case()) continue;
        const test_product p = any_mixed(dtype::i8, dtype::bf16, of_b, dtype::bf16);
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
      test_product p = any_mixed(narrow, dtype::bf16, true, dtype::f32);
      if (scaled) p.k = 640, p.b_scales = test_scales{dtype::bf16, {1, random.one_of({32L, 128L})}};
      expect_on_hopper(p, {}, [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
      expect_on_hopper(
          any_mixed(narrow, dtype::f16, false, dtype::f32), {},
          [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
      if (HasFailure()) return;
    }
}

// Products of two factors of 8-bit floats with block scales are not mixed, but their columns have the same layout.
TEST_F(cutlass_mixed_gemm, scaled_8_bit_floats_may_have_paired_epilogues) {
  for (const std::int64_t lines : {1, 128}) {
    test_product p{dtype::f8e4m3, dtype::f8e4m3, dtype::f32, random.between(1, 300), 128 * random.between(1, 2), 640};
    p.a_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns;
    p.a_scales = test_scales{dtype::f32, {1, 128}}, p.b_scales = test_scales{dtype::f32, {lines, 128}};
    expect_on_hopper(p, {}, [&](auto, auto) { return epilogue::left - 2 * epilogue::right; }, 0, true);
  }
}

// Elements are random instead of small integers, as those of weights are.
TEST_F(cutlass_mixed_gemm, rounding_errors_are_those_of_float_sums) {
  for (const dtype narrow : narrow_types) {
    constexpr std::int64_t m = 33, n = 130, k = 704;
    test_factor a({dtype::bf16, 1, m, k, true, storing::tidy_rows}, random),
        b({narrow, 1, n, k, false, storing::tidy_columns}, random);
    a.make_random(random);
    if (narrow != dtype::f4e2m1x2 && narrow != dtype::i8) b.make_random(random);
    stored_matrices d(dtype::f64, 1, m, n, random);
    gemm r{.a = a.elements(false), .b = b.elements(false), .d = d.operand<access_mode::write>(false)};
    r.options.plan = on_hopper({});
    run(r);
    SCOPED_TRACE(to_string(narrow));
    expect_sums(d, a, b, m, n, k, 0x1p-23);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace troupe::cutlass
