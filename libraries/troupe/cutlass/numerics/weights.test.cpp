// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks the stored elements and scales of `pack`, for each type, layout and block.
#include <bit>
#include <cmath>
#include <limits>
#include <troupe/base/float4.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::cutlass {
namespace {

using matmul::testing::stored_matrices;

constexpr dtype sources[] = {dtype::f32, dtype::f16, dtype::bf16};
struct scaled_type {
  dtype type;
  double largest;
  double step;   // difference of adjacent numbers / the larger of them
  double least;  // smallest difference of adjacent numbers
};
constexpr scaled_type scaled_types[] = {{dtype::i8, 127, 0, 1},
                                        {dtype::f8e4m3, 448, 0.125, 0x1p-9},
                                        {dtype::f8e5m2, 57344, 0.25, 0x1p-16},
                                        {dtype::f4e2m1x2, 6, 0.5, 0.5}};

class cutlass_packing : public numerics::engine_suite {
 protected:
  // A packed matrix. f4e2m1x2 is stored as bytes, which hold the codes of two elements.
  struct packed_matrix {
    packed_matrix(dtype type, std::int64_t batch, std::int64_t terms, std::int64_t lines,
                  numerics::random_source& random)
        : type(type),
          each(matmul::k_per_element(type)),
          memory(each == 2 ? dtype::u8 : type, batch, terms / each, lines, random) {}
    out_any operand(bool batched) {
      const auto o = memory.operand<access_mode::write>(batched);
      return {o.range(), o.shape(), type};
    }
    double get(std::int64_t b, std::int64_t term, std::int64_t line) {
      void* const at = memory.place(b, term / each, line);
      if (each == 1) return epilogue::number_at(at, type);
      const auto pair = float4_e2m1x2::from_bits(*static_cast<const std::uint8_t*>(at));
      return static_cast<float>(term % 2 == 0 ? pair.first() : pair.second());
    }
    dtype type;
    std::int64_t each;
    stored_matrices memory;
  };

  // Returns the nearest number of the type, by definition; 0 for NaN.
  static double nearest(const scaled_type& t, double x) {
    if (std::isnan(x)) return 0;
    const double most = t.largest;
    x = std::clamp(x, -most, most);
    if (t.type == dtype::f4e2m1x2) return epilogue::nearest_of(dtype::f4e2m1, x);
    return epilogue::nearest_of(t.type, x);
  }

  struct shape {
    std::int64_t batch, terms, lines, block;
  };
  // Packs `from`, and compares elements and scales with the definition.
  void expect_packed(const scaled_type& t, dtype scale_type, const shape& s, stored_matrices& from) {
    const std::int64_t blocks = (s.terms + s.block - 1) / s.block;
    packed_matrix packed(t.type, s.batch, s.terms, s.lines, random);
    stored_matrices scales(scale_type, s.batch, blocks, s.lines, random);
    const bool batched = s.batch > 1;
    const pack r{.from = from.operand<access_mode::read>(batched),
                 .packed = packed.operand(batched),
                 .scales = scales.operand<access_mode::write>(batched)};
    SCOPED_TRACE(story(r));
    run(r);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(from.untouched_outside() && packed.memory.untouched_outside() && scales.untouched_outside());
    for (std::int64_t b = 0; b < s.batch && !HasFailure(); ++b)
      for (std::int64_t line = 0; line < s.lines; ++line)
        for (std::int64_t begin = 0; begin < s.terms; begin += s.block) {
          const std::int64_t end = std::min(begin + s.block, s.terms);
          float largest = 0;
          bool is_finite = true;
          for (std::int64_t e = begin; e < end; ++e) {
            const auto x = static_cast<float>(from.get(b, e, line).real);
            is_finite &= std::isfinite(x);
            largest = std::max(largest, std::fabs(x));
          }
          const double scale = scales.get(b, begin / s.block, line).real;
          if (!is_finite) {
            EXPECT_TRUE(std::isnan(scale)) << scale << " at block " << begin / s.block << " of line " << line;
            for (std::int64_t e = begin; e < end; ++e) EXPECT_EQ(packed.get(b, e, line), 0);
            continue;
          }
          ASSERT_EQ(scale, epilogue::nearest_of(scale_type, largest / static_cast<float>(t.largest)));
          for (std::int64_t e = begin; e < end; ++e) {
            const auto x = static_cast<float>(from.get(b, e, line).real);
            const double q = packed.get(b, e, line);
            ASSERT_EQ(q, scale > 0 ? nearest(t, x / static_cast<float>(scale)) : 0) << x << " / " << scale;
            // The error is at most half a step of the type, and at the largest numbers the rounding of the scale.
            const double half = 0.5 * scale * std::max(t.step * std::fabs(q), t.least);
            const double cut = scale_type == dtype::bf16 ? largest * 0x1p-8 : largest * 0x1p-22;
            ASSERT_LE(std::fabs(q * scale - x),
                      half + cut + (scale_type == dtype::bf16 ? 0x1p-133 : 0x1p-149) * t.largest)
                << x << " became " << q << " * " << scale;
          }
        }
  }
};

TEST_F(cutlass_packing, elements_divided_by_the_scale_of_their_block_are_rounded_to_the_nearest_value) {
  for (const scaled_type& t : scaled_types)
    for (const dtype source : sources)
      for (const dtype scale : {dtype::f32, dtype::bf16})
        for (int i = 0; i < 12 && !HasFailure(); ++i) {
          shape s{random.between(1, 3), random.between(1, 150) * 2, random.between(1, 70), 0};
          if (t.type != dtype::f4e2m1x2) s.terms -= random.between(0, 1);
          s.block = random.between(0, 2) == 0 ? s.terms : std::int64_t{16} << random.between(0, 3);
          if (terms_of_block(s.terms, (s.terms + s.block - 1) / s.block) != s.block) s.block = s.terms;
          stored_matrices from(source, s.batch, s.terms, s.lines, random);
          from.fill([&] { return matmul::testing::element_value{random.value() * 3, 0}; });
          expect_packed(t, scale, s, from);
        }
}

TEST_F(cutlass_packing, elements_without_scales_are_rounded_to_the_nearest_value) {
  for (const dtype to : sources)
    for (const dtype source : sources) {
      const shape s{2, 67, 45, 0};
      stored_matrices from(source, s.batch, s.terms, s.lines, random), packed(to, s.batch, s.terms, s.lines, random);
      int i = 0;
      constexpr double special[] = {std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN(),
                                    1e30,
                                    -0.0,
                                    1e-30};
      from.fill([&] { return matmul::testing::element_value{i < 6 ? special[i++] : random.value() * 100, 0}; });
      const pack r{.from = from.operand<access_mode::read>(true), .packed = packed.operand<access_mode::write>(true)};
      SCOPED_TRACE(story(r));
      run(r);
      EXPECT_TRUE(packed.untouched_outside());
      for (std::int64_t b = 0; b < s.batch; ++b)
        for (std::int64_t e = 0; e < s.terms; ++e)
          for (std::int64_t l = 0; l < s.lines; ++l) {
            const double x = from.get(b, e, l).real, got = packed.get(b, e, l).real, want = epilogue::nearest_of(to, x);
            ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << x << " became " << got;
          }
    }
}

TEST_F(cutlass_packing, only_blocks_with_nan_or_infinity_get_a_nan_scale) {
  for (const scaled_type& t : scaled_types)
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
      const shape s{1, 96, 40, 32};
      stored_matrices from(dtype::f32, s.batch, s.terms, s.lines, random);
      int i = 0;
      from.fill([&] { return matmul::testing::element_value{++i % 301 == 0 ? bad : random.value(), 0}; });
      expect_packed(t, dtype::f32, s, from);
    }
}

TEST_F(cutlass_packing, zeros_and_numbers_too_small_for_a_scale_become_0) {
  for (const scaled_type& t : scaled_types)
    for (const double tiny : {0.0, -0.0, 0x1p-149, 0x1p-140, 0x1p-130}) {
      const shape s{1, 64, 5, 16};
      stored_matrices from(dtype::f32, s.batch, s.terms, s.lines, random);
      int i = 0;
      from.fill([&] { return matmul::testing::element_value{++i % 2 == 0 ? tiny : -tiny, 0}; });
      for (const dtype scale : {dtype::f32, dtype::bf16}) expect_packed(t, scale, s, from);
    }
}

}  // namespace
}  // namespace troupe::cutlass
