// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares epilogues of products with their definition in double precision.
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/testing/random_epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;

class cutlass_epilogues : public gemm_suite {
 protected:
  expression reduced(const expression& x, reduction how, reduction_scope over, const test_product& p) {
    const dtype t = p.a == dtype::f64 ? dtype::f64 : dtype::f32;
    return expression::reducing(
        x, how, over,
        operand(t, p.batch, over == reduction_scope::row ? p.m : 1, over == reduction_scope::column ? p.n : 1));
  }
  expression stored(const expression& x, dtype t, const test_product& p) {
    return expression::writing(x, operand(t, p.batch, p.m, p.n));
  }
  // Returns the tolerance of a reduction of `terms` values of this size, in any order.
  static double rounding_of_sums(const test_product& p, double size, std::int64_t terms) {
    return 1e-6 + 0x1p-23 * size * static_cast<double>(terms) * static_cast<double>(p.k);
  }
};

// Tests 8 functions in one epilogue, each with its own output, because each epilogue must be compiled.
TEST_F(cutlass_epilogues, every_function_matches_the_reference) {
  std::vector<op> functions;
  for (int o = 1; epilogue::is_known(static_cast<op>(o)); ++o)
    if (epilogue::is_function(static_cast<op>(o))) functions.push_back(static_cast<op>(o));
  ASSERT_GT(functions.size(), 40u);
  constexpr std::size_t at_once = 8;
  for (const dtype t : {dtype::bf16, dtype::f64})
    for (std::size_t first = 0; first < functions.size(); first += at_once) {
      // Arguments are exact in float, so that only the functions round: within 16 units in the last place.
      const test_product p{t, t, t == dtype::f64 ? t : dtype::f32, random.between(20, 50), random.between(20, 50), 5};
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const expression x = 0.0625 * acc, y = loaded(op::load_row, dtype::f32, 1, 1, columns),
                             z = loaded(op::load_column, dtype::f32, 1, rows, 1), never = x == x + 1;
            const expression* const arguments[] = {&x, &y, &z};
            expression e = x;
            for (std::size_t i = first; i < std::min(functions.size(), first + at_once); ++i) {
              const auto given = std::span(arguments).first(epilogue::info(functions[i]).arguments);
              e = select(never, stored(expression::of(functions[i], given), p.d, p), e);
            }
            return e;
          },
          t == dtype::f64 ? 1e-11 : 16 * 0x1p-23);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_epilogues, rows_columns_numbers_and_matrices_of_every_type_may_be_loaded) {
  for (const dtype t : all_results)
    for (const factor_types& f : {all_pairs[1], all_pairs[3], all_pairs[4]})
      for (const std::int64_t batch : {1, 3}) {
        test_product p = any_product(f, any_float());
        p.batch = batch;
        for (const std::int64_t parts : {std::int64_t{1}, batch}) {
          expect_as_defined(
              p,
              [&](auto rows, auto columns) {
                return acc * loaded(op::load_number, t, parts, 1, 1) + loaded(op::load_row, t, parts, 1, columns) -
                       loaded(op::load_column, t, parts, rows, 1) * loaded(op::load, t, parts, rows, columns);
              },
              rounding_of(p, 2));
          if (HasFailure()) return;
          if (batch == 1) break;
        }
      }
}

TEST_F(cutlass_epilogues, matrices_of_every_type_are_written_and_rounded_once) {
  for (const dtype t : all_results)
    for (const factor_types& f : {all_pairs[1], all_pairs[3], all_pairs[4], all_pairs[5]}) {
      const test_product p = any_product(f, any_float());
      expect_as_defined(p, [&](auto, auto) { return 2 * stored(acc, t, p); }, 0);
      expect_as_defined(
          p, [&](auto, auto) { return epilogue::relu(stored(epilogue::silu(0.0625 * stored(acc, t, p)), t, p)); },
          4e-6);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_epilogues, reductions_of_rows_columns_and_all_elements_match_the_reference) {
  for (const factor_types& f : all_pairs)
    for (const reduction_scope over : {reduction_scope::row, reduction_scope::column, reduction_scope::all})
      for (const reduction how : {reduction::sum, reduction::maximum, reduction::absolute_maximum}) {
        if (skips_case()) continue;
        const test_product p = any_product(f, any_float());
        const bool adds = how == reduction::sum;
        const std::int64_t terms = !adds                             ? 0
                                   : over == reduction_scope::row    ? p.n
                                   : over == reduction_scope::column ? p.m
                                                                     : p.m * p.n;
        expect_as_defined(
            p, [&](auto, auto) { return reduced(0.125 * acc, how, over, p); },
            adds ? rounding_of_sums(p, 18 * 0.125, terms) : 0);
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_epilogues, several_reductions_are_computed_at_once) {
  for (const factor_types& f : {all_pairs[1], all_pairs[2], all_pairs[7]})
    for (int i = 0; i < iterations(8); ++i) {
      const test_product p = any_product(f, any_float());
      expect_as_defined(
          p,
          [&](auto, auto) {
            const expression rows = reduced(0.125 * acc, reduction::sum, reduction_scope::row, p),
                             all = reduced(rows, reduction::absolute_maximum, reduction_scope::all, p);
            return reduced(all * all, reduction::maximum, reduction_scope::column, p);
          },
          rounding_of_sums(p, 18 * 0.125, std::max(p.n, p.k)) + rounding_of(p, 18.0 * static_cast<double>(p.k)));
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_epilogues, paired_epilogues_gate_one_half_with_the_other) {
  for (const factor_types& f : all_pairs)
    for (const dtype d : {dtype::f32, dtype::bf16, dtype::f8e4m3}) {
      if (skips_case()) continue;
      const test_product p = any_product(f, d);
      expect_as_defined(
          p,
          [&](auto, auto columns) {
            return silu(0.0625 * epilogue::left) * epilogue::right *
                   loaded(op::load_row, dtype::f32, p.batch, 1, columns);
          },
          4e-6, true);
      expect_as_defined(
          p, [&](auto, auto) { return stored(epilogue::left, dtype::f32, p) - epilogue::right; }, 0, true);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_epilogues, results_are_quantized_and_their_largest_magnitude_is_stored) {
  for (const factor_types& f : all_pairs)
    for (const dtype d : {dtype::f8e4m3, dtype::f8e5m2, dtype::i8}) {
      if (skips_case()) continue;
      const test_product p = any_product(f, d);
      expect_as_defined(
          p,
          [&](auto, auto) {
            const expression noted = reduced(0.25 * acc, reduction::absolute_maximum, reduction_scope::all, p);
            return expression::converted(noted * loaded(op::load_number, dtype::f32, 1, 1, 1), d);
          },
          1e-6);
      expect_as_defined(p, [&](auto rows, auto columns) { return scaled_along_both(p.batch, rows, columns); }, 1e-6);
      if (HasFailure()) return;
    }
}

// Tests templates/hopper_boxes.cuh with sums of each kind: results of one and two bytes that pass through shared memory
// in their own type. The host engine, which has no plans, computes the same products.
TEST_F(cutlass_epilogues, narrow_results_on_hopper_match_the_reference) {
  constexpr plan tiles[] = {{.tile_m = 128, .tile_n = 256},
                            {.schedule = schedule::ping_pong, .tile_m = 128, .tile_n = 128},
                            {.schedule = schedule::ping_pong, .tile_m = 64, .tile_n = 256},
                            {.cluster_m = 2, .tile_m = 128, .tile_n = 256},
                            {.divided = decision::yes, .tile_m = 128, .tile_n = 256}};  // plans of one product
  for (const factor_types& f : {all_pairs[3], all_pairs[5]})
    for (const dtype d : {dtype::bf16, dtype::f16, dtype::f8e4m3, dtype::f8e5m2, dtype::i8})
      for (const reduction_scope over : {reduction_scope::row, reduction_scope::column, reduction_scope::all}) {
        if (skips_case()) continue;
        // Lines are multiples of 16 bytes, without gaps.
        test_product p{f.a, f.b, d, random.between(1, 400), 16 * random.between(1, 40), 16 * random.between(1, 20)};
        p.batch = random.between(1, 2);
        p.a_stored = p.d_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns;
        const bool pairs = random.between(0, 3) == 0, adds = random.between(0, 1) == 0;
        plan wanted = tiles[random.between(0, std::ssize(tiles) - 1)];
        wanted.family = family::hopper;
        if (wanted.divided == decision::yes) p.batch = 1;
        const reduction how = random.one_of({reduction::sum, reduction::maximum, reduction::absolute_maximum});
        const std::int64_t terms = how != reduction::sum             ? 0
                                   : over == reduction_scope::row    ? p.n
                                   : over == reduction_scope::column ? p.m
                                                                     : p.m * p.n;
        expect_right(
            p,
            [&](auto, auto) {
              expression x = pairs ? 0.125 * epilogue::left - 0.25 * epilogue::right : 0.125 * acc;
              // Integers, so that nothing is rounded before the reduction.
              if (adds)
                x = x + expression::reading(op::load, operand(dtype::i8, p.batch, p.m, p.n, storing::tidy_rows));
              return reduced(x, how, over, p);
            },
            rounding_of_sums(p, 18 * 0.375, terms), pairs,
            [&](auto&&... parts) {
              gemm r = request_of(parts...);
              // Sums are exact with either accumulation; with fast accumulation every tile is possible.
              r.options.accumulation = accumulation::fast;
              if (engine->is_cuda()) r.options.plan = wanted;
              return r;
            });
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_epilogues, derivatives_and_their_reductions_match_the_reference) {
  for (const factor_types& f : {all_pairs[1], all_pairs[3], all_pairs[5], all_pairs[11]})
    for (const auto& d : derivatives()) {
      const test_product p = any_product(f, any_float());
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const expression g = 0.0625 * acc * d(loaded(op::load, dtype::bf16, p.batch, rows, columns));
            return reduced(reduced(g, reduction::sum, reduction_scope::column, p), reduction::maximum,
                           reduction_scope::row, p);
          },
          rounding_of_sums(p, 18 * 0.0625 * 1.2, p.m + 8));
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_epilogues, random_trees_match_the_reference) {
  for (int i = 0; i < iterations(200) && !HasFailure(); ++i) {
    test_product p = any_product({dtype::f64, dtype::f64}, dtype::f64);
    p.batch = 1;
    epilogue::testing::random_epilogue some(static_cast<std::uint64_t>(random.between(0, 1 << 30)), p.m, p.n);
    const expression e = some.make(static_cast<std::size_t>(random.between(1, 5)));
    if (!e.is_too_large()) expect_as_defined(p, [&](auto, auto) { return e; }, 1e-9);
  }
}

}  // namespace
}  // namespace troupe::cutlass
