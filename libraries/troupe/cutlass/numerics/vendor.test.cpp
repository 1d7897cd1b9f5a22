// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products and convolutions by CUTLASS's kernels with the reference in double precision.
#include <troupe/cutlass/testing/convolution_cases.hpp>
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/cutlass/testing/vendor.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;
using storing = stored_matrices::storing;

// A kernel: the types and layout that it computes, and a plan that only this kernel has.
struct tested_kernel {
  const char* name;
  dtype factor, result;
  storing b_stored;
  cutlass::plan plan;
  cutlass::precision how = precision::exact;
  matmul::accumulation sums = matmul::accumulation::precise;
};
constexpr plan plan_of(std::uint16_t m, std::uint16_t n, std::uint16_t k, std::uint8_t stages, std::uint8_t cluster,
                       schedule how = schedule::cooperative, decision divided = decision::no) {
  return {.family = family::vendor,
          .schedule = how,
          .divided = divided,
          .stages = stages,
          .cluster_m = cluster,
          .cluster_n = 1,
          .tile_m = m,
          .tile_n = n,
          .tile_k = k};
}
constexpr auto by_rows = storing::tidy_rows, by_columns = storing::tidy_columns;
constexpr tested_kernel kernels[] = {
    {"sm80_bf16_row_column", dtype::bf16, dtype::bf16, by_columns, plan_of(128, 256, 32, 3, 1)},
    {"sm80_bf16_row_row", dtype::bf16, dtype::bf16, by_rows, plan_of(128, 256, 32, 3, 1)},
    {"sm80_f16_row_column", dtype::f16, dtype::f16, by_columns, plan_of(128, 256, 32, 3, 1)},
    {"sm80_f16_row_row", dtype::f16, dtype::f16, by_rows, plan_of(128, 256, 32, 3, 1)},
    {"sm80_tf32_row_column", dtype::f32, dtype::f32, by_columns, plan_of(128, 128, 32, 3, 1), precision::tf32},
    {"sm80_tf32_row_row", dtype::f32, dtype::f32, by_rows, plan_of(128, 128, 32, 3, 1), precision::tf32},
    {"sm86_f16_row_column", dtype::f16, dtype::f16, by_columns, plan_of(128, 128, 32, 4, 1)},
    {"sm89_e4m3_row_column", dtype::f8e4m3, dtype::bf16, by_columns, plan_of(128, 128, 64, 3, 1), precision::exact,
     matmul::accumulation::fast},
    {"sm90_bf16_cooperative", dtype::bf16, dtype::bf16, by_columns, plan_of(128, 256, 64, 4, 2)},
    {"sm90_bf16_pingpong", dtype::bf16, dtype::bf16, by_columns, plan_of(64, 128, 64, 8, 2, schedule::ping_pong)},
    {"sm90_bf16_stream_k", dtype::bf16, dtype::bf16, by_columns,
     plan_of(128, 256, 64, 4, 2, schedule::cooperative, decision::yes)},
    {"sm90_e4m3_fast", dtype::f8e4m3, dtype::bf16, by_columns, plan_of(128, 256, 128, 4, 2), precision::exact,
     matmul::accumulation::fast},
    {"sm90_f16_cooperative", dtype::f16, dtype::f16, by_columns, plan_of(128, 256, 64, 4, 2)},
};

class cutlass_vendor : public gemm_suite {
 protected:
  void SetUp() override { skip_without_cutlass_library(*engine); }
  test_product product_for(const tested_kernel& k, std::int64_t m, std::int64_t n, std::int64_t terms) {
    test_product p{k.factor, k.factor, k.result, m, n, terms};
    p.a_stored = p.d_stored = by_rows, p.b_stored = k.b_stored;
    return p;
  }
  // Returns the transposed product. Columns of D are contiguous; the kernel's A is the transpose of B.
  static test_product transposed(const test_product& p) {
    test_product q = p;
    q.m = p.n, q.n = p.m, q.d_stored = by_columns;
    q.a_stored = p.b_stored == by_columns ? by_rows : by_columns, q.b_stored = by_columns;
    q.shares_a = p.shares_b, q.shares_b = p.shares_a;
    return q;
  }
  template <class Make>
  void expect_with(const tested_kernel& k, const test_product& p, Make&& make, double tolerance) {
    SCOPED_TRACE(k.name);
    expect_right(p, make, tolerance, false, [&](auto&&... operands) {
      gemm r = request_of(operands...);
      r.options.plan = k.plan, r.options.precision = k.how, r.options.accumulation = k.sums;
      // Tiles are computed in one of several orders, where the kernel has more than one.
      if (k.plan.cluster_m > 1) r.options.plan.band = static_cast<std::uint16_t>(random.one_of({0, 1, 2, 4, 8}));
      return r;
    });
  }
};

expression plain(std::int64_t, std::int64_t) { return acc; }

TEST_F(cutlass_vendor, products_of_each_kernel_match_the_reference) {
  for (const tested_kernel& k : kernels)
    for (const auto& [m, n, terms] : {std::array<std::int64_t, 3>{200, 144, 96},
                                      {1, 16, 16},
                                      {77, 48, 208},
                                      {129, 272, 1040},
                                      {300, 8 * random.between(2, 40) / 2 * 2, 16 * random.between(1, 30)}}) {
      const std::int64_t whole = k.factor == dtype::f8e4m3 ? (n + 15) / 16 * 16 : n;
      expect_with(k, product_for(k, m, whole, terms), plain, 0);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_vendor, products_may_be_transposed_and_batched_and_share_a_factor) {
  for (const tested_kernel& k : kernels)
    for (int shared = 0; shared < 3 && !HasFailure(); ++shared) {
      test_product p =
          product_for(k, 16 * random.between(1, 12), 16 * random.between(1, 12), 16 * random.between(1, 12));
      p.batch = random.between(1, 4), p.shares_a = shared == 1, p.shares_b = shared == 2;
      expect_with(k, p, plain, 0);
      expect_with(k, transposed(p), plain, 0);
    }
}

TEST_F(cutlass_vendor, epilogues_may_have_alpha_and_beta_and_a_matrix) {
  for (const tested_kernel& k : kernels)
    for (const auto& [alpha, beta] : {std::pair{1.0, 1.0}, {-0.75, 0.5}, {2.0, -1.0}, {0.5, 0.0}}) {
      test_product p = product_for(k, random.between(1, 200), 16 * random.between(1, 12), 16 * random.between(1, 12));
      p.batch = random.between(1, 3);
      // The kernel rounds alpha * sum + beta * c in float before it rounds to D.
      expect_with(
          k, p,
          [&](auto m, auto n) {
            return alpha * acc + beta * expression::reading(op::load, operand(k.result, p.batch, m, n, by_rows));
          },
          k.result == dtype::f32 ? rounding_of(p, 2) : 0x1p-7);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_vendor, epilogues_may_have_a_bias_and_gelu) {
  const tested_kernel k{"sm90_bf16_bias_gelu", dtype::bf16, dtype::bf16, by_columns, {.family = family::vendor}};
  for (int i = 0; i < 4 && !HasFailure(); ++i) {
    const test_product p = product_for(k, random.between(1, 300), 8 * random.between(1, 40), 8 * random.between(1, 20));
    // The kernel computes tanh with the GPU's instruction, which has 11 bits.
    expect_with(
        k, p,
        [&](auto, auto n) {
          return gelu_tanh(0.0625 * acc + expression::reading(op::load_row, operand(dtype::bf16, 1, 1, n, by_rows)));
        },
        0x1p-6);
  }
}

TEST_F(cutlass_vendor, a_measured_plan_can_be_given_in_a_request) {
  const tested_kernel& k = kernels[8];
  const test_product p = product_for(k, 256, 512, 512);
  test_factor a({p.a, 1, p.m, p.k, true, p.a_stored}, random), b({p.b, 1, p.n, p.k, false, p.b_stored}, random);
  stored_matrices d(p.d, 1, p.m, p.n, random, p.d_stored);
  gemm r = request_of(a, false, b, false, d.operand<access_mode::write>(false), acc);
  r.options.plan.family = family::vendor;
  const auto info = engine->run(prepare{r, 8});
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_GE(info->measured, 2u) << "several kernels can compute this";
  EXPECT_EQ(info->plan.family, family::vendor);
  EXPECT_EQ(info->kernel, kernel_source::vendor);
  r.options.plan = info->plan;
  const auto again = engine->run(prepare{r});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->plan, info->plan);
  EXPECT_EQ(again->candidates, 1u);
  EXPECT_EQ(again->source, plan_source::given);
  r.options.plan = {};
  const auto model = engine->run(prepare{r});
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_NE(model->plan.family, family::vendor) << "a request without a plan, which was not measured";
  const auto all = engine->run(prepare{r, 2});
  ASSERT_TRUE(all) << all.error().to_string();
  EXPECT_GE(all->measured, 4u) << "two kernels of templates, and CUTLASS's kernels";
}

TEST_F(cutlass_vendor, a_workspace_smaller_than_the_plan_needs_is_refused) {
  const tested_kernel& k = kernels[10];
  ASSERT_EQ(k.plan.divided, decision::yes);
  const test_product p = product_for(k, 128, 256, 2048);
  test_factor a({p.a, 1, p.m, p.k, true, p.a_stored}, random), b({p.b, 1, p.n, p.k, false, p.b_stored}, random);
  stored_matrices d(p.d, 1, p.m, p.n, random, p.d_stored);
  gemm r = request_of(a, false, b, false, d.operand<access_mode::write>(false), acc);
  r.options.plan = k.plan;
  const auto info = engine->run(prepare{r});
  ASSERT_TRUE(info) << info.error().to_string();
  ASSERT_GT(info->workspace, 0u) << "blocks that share a tile add their sums in memory";
  r.options.workspace = info->workspace;
  EXPECT_TRUE(engine->run(r));
  r.options.workspace = info->workspace - 1;
  const auto refused = engine->run(r);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find(cat("needs ", info->workspace, " bytes")), std::string::npos)
      << refused.error().text();
}

TEST_F(cutlass_vendor, a_refusal_names_the_epilogue_extent_or_types_that_no_kernel_has) {
  const tested_kernel& k = kernels[8];
  test_product p = product_for(k, 64, 64, 64);
  const auto refusal = [&](const expression& e) {
    test_factor a({p.a, 1, p.m, p.k, true, p.a_stored}, random), b({p.b, 1, p.n, p.k, false, p.b_stored}, random);
    stored_matrices d(p.d, 1, p.m, p.n, random, p.d_stored);
    gemm r = request_of(a, false, b, false, d.operand<access_mode::write>(false), e);
    r.options.plan.family = family::vendor;
    const auto done = engine->run(r);
    EXPECT_FALSE(done);
    return done ? std::string() : done.error().text();
  };
  EXPECT_NE(refusal(relu(acc)).find("and no other epilogue"), std::string::npos) << refusal(relu(acc));
  EXPECT_NE(refusal(relu(acc)).find("the nearest possible plan is"), std::string::npos);
  p.n = 63;
  EXPECT_NE(refusal(acc).find("is 63; expected a multiple of 8 elements"), std::string::npos) << refusal(acc);
  p.n = 64, p.d = dtype::f32;
  EXPECT_NE(refusal(acc).find("multiplies bf16 by bf16 and stores bf16"), std::string::npos) << refusal(acc);
}

class cutlass_vendor_convolutions : public convolution_numerics {
 protected:
  convolution_case any_of_kernels(computed_tensor result) {
    convolution_case c{.result = result, .first = dtype::f16, .second = dtype::f16, .computed = dtype::f16};
    c.spatial = static_cast<std::size_t>(random.between(1, 2));
    c.images = random.between(1, 3), c.channels = 8 * random.between(1, 9), c.filters = 8 * random.between(1, 9);
    for (std::size_t i = 3 - c.spatial; i < 3; ++i) {
      c.in[i] = random.between(3, 19), c.width[i] = random.between(1, 3);
      c.padding_before[i] = c.padding_after[i] = random.between(0, 2), c.stride[i] = random.between(1, 3);
      c.dilation[i] = result == computed_tensor::dx ? 1 : random.between(1, 2);
      while (positions(c, i) < 1) ++c.in[i];
    }
    c.how = layout::channels_last, c.plan = {.family = family::vendor};
    return c;
  }
  void SetUp() override { skip_without_cutlass_library(*engine); }
};

TEST_F(cutlass_vendor_convolutions, convolutions_match_the_definition) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (int i = 0; i < 12 && !HasFailure(); ++i)
      expect_as_defined(any_of_kernels(r), [](auto, auto, auto) { return expression(acc); }, 0);
}

TEST_F(cutlass_vendor_convolutions, epilogues_may_have_alpha_and_beta_and_a_matrix) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (int i = 0; i < 6 && !HasFailure(); ++i)
      expect_as_defined(
          any_of_kernels(r),
          [&](auto rows, auto columns, auto batch) {
            return 0.5 * acc - 2 * expression::reading(op::load, operand(dtype::f16, batch, rows, columns, by_rows));
          },
          0x1p-9);
}

}  // namespace
}  // namespace troupe::cutlass
