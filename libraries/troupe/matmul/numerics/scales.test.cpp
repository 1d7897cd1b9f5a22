// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Factors with a scale for each block of elements.
#include <troupe/base/float4.hpp>
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;
using enum stored_matrices::storing;

struct scaled_kind {
  dtype elements, scales;
  bool coarse_a = false, coarse_b = false;  // one scale for 128 lines
};

class scaled_products : public matmul_numerics {
 protected:
  // One factor with its scales; `lines` by `terms`.
  struct factor {
    factor(const scaled_kind& kind, bool coarse, std::int64_t batch, std::int64_t lines, std::int64_t terms,
           bool by_rows, bool tidy, numerics::random_source& random)
        : type(kind.elements),
          block(block_of(kind.scales, kind.elements)),
          lines_are_rows(by_rows),
          elements(type, batch, by_rows ? lines : terms / terms_in(type), by_rows ? terms / terms_in(type) : lines,
                   random,
                   !tidy     ? anyhow
                   : by_rows ? tidy_rows
                             : tidy_columns),
          scales(kind.scales, batch, by_rows ? blocks(lines, coarse) : along(terms),
                 by_rows ? along(terms) : blocks(lines, coarse), random) {
      if (coarse) block.lines = block.terms;
      const std::int64_t rows = by_rows ? lines : terms / terms_in(type),
                         columns = by_rows ? terms / terms_in(type) : lines;
      for (std::int64_t w = 0; w < batch; ++w)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            if (type == dtype::f4e2m1x2)
              *static_cast<std::uint8_t*>(elements.place(w, i, j)) = static_cast<std::uint8_t>(random.between(0, 255));
            else
              write(elements.place(w, i, j), type, {static_cast<double>(random.between(-3, 3)), 0});
          }
      scales.fill([&] { return element_value{std::ldexp(1.0, static_cast<int>(random.between(-2, 2))), 0}; });
    }
    std::int64_t blocks(std::int64_t lines, bool coarse) const {
      return coarse ? (lines + block.terms - 1) / block.terms : lines;
    }
    std::int64_t along(std::int64_t terms) const { return (terms + block.terms - 1) / block.terms; }
    double at(std::int64_t w, std::int64_t line, std::int64_t term) {
      const std::int64_t l = line / block.lines, t = term / block.terms, e = term / terms_in(type);
      const double scale = (lines_are_rows ? scales.get(w, l, t) : scales.get(w, t, l)).real;
      void* const place = lines_are_rows ? elements.place(w, line, e) : elements.place(w, e, line);
      if (type != dtype::f4e2m1x2) return read(place, type).real * scale;
      const auto pair = float4_e2m1x2::from_bits(*static_cast<std::uint8_t*>(place));
      return static_cast<double>(static_cast<float>(term % 2 == 0 ? pair.first() : pair.second())) * scale;
    }
    dtype type;
    scale_block block;
    bool lines_are_rows;
    stored_matrices elements, scales;
  };

  void expect_right(const scaled_kind& kind, dtype type, std::int64_t batch, std::int64_t m, std::int64_t n,
                    std::int64_t k, bool tidy) {
    factor a(kind, kind.coarse_a, batch, m, k, true, tidy, random),
        b(kind, kind.coarse_b, batch, n, k, false, tidy, random);
    stored_matrices d(type, batch, m, n, random, tidy ? tidy_rows : anyhow);
    const bool batched = batch > 1;
    const expression::memory_operand bias = operand(type, 1, 1, n, tidy_rows);
    const multiplication r{.a = a.elements.operand<access_mode::read>(batched),
                           .b = b.elements.operand<access_mode::read>(batched),
                           .d = d.operand<access_mode::write>(batched),
                           .epilogue = 0.5 * acc + expression::reading(op::load_row, bias),
                           .a_scales = a.scales.operand<access_mode::read>(batched),
                           .b_scales = b.scales.operand<access_mode::read>(batched)};
    SCOPED_TRACE(story(r));
    run(r);
    int wrong = 0;
    for (std::int64_t w = 0; w < batch; ++w)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0, magnitude = 1;
          for (std::int64_t l = 0; l < k; ++l) {
            const double x = a.at(w, i, l) * b.at(w, j, l);
            sum += x, magnitude += std::fabs(x);
          }
          const epilogue::tree_memory seen{bias.range.address, bias.shape, bias.batch_stride, bias.type, bias.mode, {}};
          const double want = 0.5 * sum + epilogue::number_at(seen.at(0, 0, j), bias.type), got = d.get(w, i, j).real;
          const double rounding = type == dtype::f32 ? 1e-6 : 0x1p-8;
          if (!(std::fabs(got - want) <= 1e-5 * magnitude + rounding * std::fabs(want)) && ++wrong < 4)
            ADD_FAILURE() << "d(" << w << ", " << i << ", " << j << ") is " << got << ", expected " << want;
        }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(d.untouched_outside());
  }
};

constexpr scaled_kind of_all[] = {{dtype::f8e4m3, dtype::f8e8m0},           {dtype::f8e5m2, dtype::f8e8m0},
                                  {dtype::f4e2m1x2, dtype::f8e4m3},         {dtype::f8e4m3, dtype::f32},
                                  {dtype::f8e4m3, dtype::f32, true, false}, {dtype::f8e4m3, dtype::f32, false, true},
                                  {dtype::f8e4m3, dtype::f32, true, true},  {dtype::f8e5m2, dtype::f32, false, true}};

TEST_F(scaled_products, of_odd_extents_are_as_defined) {
  for (const scaled_kind& kind : of_all)
    for (const dtype d : {dtype::f32, dtype::bf16})
      for (int i = 0; i < 4 && !HasFailure(); ++i)
        expect_right(kind, d, random.between(1, 3), random.between(1, 150), random.between(1, 40),
                     2 * random.between(1, 200), false);
}

TEST_F(scaled_products, of_tidy_extents_are_as_defined) {
  for (const scaled_kind& kind : of_all)
    for (const dtype d : {dtype::f32, dtype::bf16})
      for (int i = 0; i < 2 && !HasFailure(); ++i)
        expect_right(kind, d, 1, 16 * random.between(1, 20), 16 * random.between(1, 4), 128 * random.between(1, 4),
                     true);
}

}  // namespace
}  // namespace troupe::matmul
