// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products of factors that have a scale for each block of elements with the reference.
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;
using enum stored_matrices::storing;

struct scaled_kind {
  dtype elements, scales;
  bool coarse_a = false, coarse_b = false;  // true: 128 lines share a scale
};

class scaled_products : public matmul_numerics {
 protected:
  // Returns a factor with its scales.
  test_factor factor(const scaled_kind& kind, bool coarse, std::int64_t batch, std::int64_t lines, std::int64_t k,
                     bool by_rows, bool tidy) {
    scale_block block = block_of(kind.scales, kind.elements);
    if (coarse) block.lines = block.k;
    const auto how = !tidy ? anyhow : by_rows ? tidy_rows : tidy_columns;
    return {{kind.elements, batch, lines, k, by_rows, how, test_scales{kind.scales, block}}, random};
  }

  void expect_scaled(const scaled_kind& kind, dtype type, std::int64_t batch, std::int64_t m, std::int64_t n,
                     std::int64_t k, bool tidy) {
    test_factor a = factor(kind, kind.coarse_a, batch, m, k, true, tidy),
                b = factor(kind, kind.coarse_b, batch, n, k, false, tidy);
    stored_matrices d(type, batch, m, n, random, tidy ? tidy_rows : anyhow);
    const bool batched = batch > 1;
    const expression::memory_operand bias = operand(type, 1, 1, n, tidy_rows);
    const multiplication r{.a = a.elements(batched),
                           .b = b.elements(batched),
                           .d = d.operand<access_mode::write>(batched),
                           .epilogue = 0.5 * acc + expression::reading(op::load_row, bias),
                           .a_scales = a.scales(batched),
                           .b_scales = b.scales(batched)};
    SCOPED_TRACE(story(r));
    run(r);
    int wrong = 0;
    for (std::int64_t w = 0; w < batch; ++w)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const auto [sum, magnitude] = sum_at(a, b, w, i, j, k);
          const epilogue::memory_operand memory{bias.range.address, bias.shape, bias.batch_stride,
                                                bias.type,          bias.mode,  {}};
          const double want = 0.5 * sum + epilogue::number_at(memory.at(0, 0, j), bias.type), got = d.get(w, i, j).real;
          const double rounding = type == dtype::f32 ? 1e-6 : 0x1p-8;
          if (!(std::fabs(got - want) <= 1e-5 * (1 + magnitude) + rounding * std::fabs(want)) && ++wrong < 4)
            ADD_FAILURE() << "d(" << w << ", " << i << ", " << j << ") is " << got << ", expected " << want;
        }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(d.untouched_outside());
  }
};

constexpr scaled_kind all_kinds[] = {
    {dtype::f8e4m3, dtype::f8e8m0},           {dtype::f8e5m2, dtype::f8e8m0},
    {dtype::f4e2m1x2, dtype::f8e4m3},         {dtype::f8e4m3, dtype::f32},
    {dtype::f8e4m3, dtype::f32, true, false}, {dtype::f8e4m3, dtype::f32, false, true},
    {dtype::f8e4m3, dtype::f32, true, true},  {dtype::f8e5m2, dtype::f32, false, true}};

TEST_F(scaled_products, products_with_odd_extents_match_the_reference) {
  for (const scaled_kind& kind : all_kinds)
    for (const dtype d : {dtype::f32, dtype::bf16})
      for (int i = 0; i < 4 && !HasFailure(); ++i)
        expect_scaled(kind, d, random.between(1, 3), random.between(1, 150), random.between(1, 40),
                      2 * random.between(1, 200), false);
}

TEST_F(scaled_products, products_with_aligned_extents_match_the_reference) {
  for (const scaled_kind& kind : all_kinds)
    for (const dtype d : {dtype::f32, dtype::bf16})
      for (int i = 0; i < 2 && !HasFailure(); ++i)
        expect_scaled(kind, d, 1, 16 * random.between(1, 20), 16 * random.between(1, 4), 128 * random.between(1, 4),
                      true);
}

}  // namespace
}  // namespace troupe::matmul
