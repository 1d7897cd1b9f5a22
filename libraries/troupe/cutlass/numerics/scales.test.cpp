// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products whose factors have a scale for each block of elements with the reference. Scales are powers of 2,
// so the sums are exact.
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;

class cutlass_scaled_factors : public gemm_suite {
 protected:
  // Returns scales for blocks of `block` terms, or of all terms if `block` is 0; of one line, or of as many lines as
  // terms if `coarse`.
  std::optional<test_scales> scales(std::int64_t terms, std::int64_t block, bool coarse) {
    const dtype t = random.one_of({dtype::f32, dtype::f16, dtype::bf16, dtype::f8e8m0, dtype::f8e4m3});
    const std::int64_t all = block == 0 ? terms : block;
    return test_scales{t, {coarse ? all : 1, all}};
  }
  // Compares a product with scales. k is such that the number of scales identifies the block: smaller blocks would have
  // more scales.
  void expect_scaled(const factor_types& t, std::int64_t block, bool of_a, bool of_b) {
    test_product p = any_product(t, random.one_of({dtype::f32, dtype::bf16}));
    const std::int64_t blocks = random.between(2, 5);
    p.k = block == 0 ? 2 * random.between(9, 100)
                     : block * (blocks - 1) + 2 * random.between(std::max<std::int64_t>(1, block / 4), block / 2);
    if (block > 16 && (p.k + block / 2 - 1) / (block / 2) == (p.k + block - 1) / block) p.k += block / 2;
    if (of_a) p.a_scales = scales(p.k, block, block != 0 && random.between(0, 1) == 0);
    if (of_b) p.b_scales = scales(p.k, block, block != 0 && random.between(0, 1) == 0);
    expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
    expect_as_defined(
        p, [&](auto, auto columns) { return relu(0.5 * acc + loaded(op::load_row, dtype::f32, p.batch, 1, columns)); },
        rounding_of(p, 0.5 * 16));
  }
  static bool may_scale(const factor_types& t) {
    return t.a != dtype::f32 && t.a != dtype::f64 && !(t.a == dtype::i8 && t.b == dtype::i8);
  }
};

TEST_F(cutlass_scaled_factors, one_or_both_factors_may_have_scales_for_blocks_of_any_size) {
  for (const factor_types& t : all_pairs)
    for (const std::int64_t block : {0, 16, 32, 64, 128}) {
      if (!may_scale(t)) continue;
      for (const auto& [of_a, of_b] : {std::pair{true, true}, std::pair{true, false}, std::pair{false, true}}) {
        if (skips_case()) continue;
        expect_scaled(t, block, of_a, of_b);
        if (HasFailure()) return;
      }
    }
}

TEST_F(cutlass_scaled_factors, products_of_a_batch_may_have_their_own_or_shared_scales) {
  for (int i = 0; i < iterations(20) && !HasFailure(); ++i) {
    test_product p{dtype::f8e4m3, dtype::f8e4m3, dtype::f32, random.between(1, 200), random.between(1, 200), 384};
    p.batch = 3, p.shares_b = i % 2 == 0;
    p.a_scales = scales(p.k, 128, false), p.b_scales = scales(p.k, 128, true);
    expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
  }
}

}  // namespace
}  // namespace troupe::cutlass
