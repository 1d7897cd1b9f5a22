// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/testing/convolution_cases.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;
using enum computed_tensor;

constexpr computed_tensor all_results[] = {y, dx, dfilters};
struct pair_of_types {
  dtype first, second;
};
constexpr pair_of_types all_types[] = {
    {dtype::f32, dtype::f32},       {dtype::f64, dtype::f64},       {dtype::f16, dtype::f16},
    {dtype::bf16, dtype::bf16},     {dtype::i8, dtype::i8},         {dtype::f8e4m3, dtype::f8e4m3},
    {dtype::f8e5m2, dtype::f8e4m3}, {dtype::f8e5m2, dtype::f8e5m2}, {dtype::f16, dtype::i8},
    {dtype::i8, dtype::bf16},       {dtype::bf16, dtype::f8e4m3},   {dtype::f8e5m2, dtype::f16}};
constexpr dtype results_of_all[] = {dtype::f32, dtype::f64, dtype::f16,   dtype::bf16,
                                    dtype::i8,  dtype::i32, dtype::f8e4m3};

class cutlass_convolutions : public convolution_numerics {
 protected:
  static expression plain(std::int64_t, std::int64_t, std::int64_t) { return acc; }
  dtype any_result() { return results_of_all[static_cast<std::size_t>(random.between(0, 6))]; }
  // Returns a convolution with several panels of positions, and several of filters.
  static convolution_case large(computed_tensor r, layout how) {
    return {.result = r,
            .first = dtype::f32,
            .second = dtype::f32,
            .computed = dtype::f32,
            .images = 3,
            .channels = 61,
            .filters = 40,
            .in = {1, 43, 41},
            .width = {1, 3, 3},
            .padding_before = {0, 1, 0},
            .padding_after = {0, 1, 2},
            .stride = {1, 1, 2},
            .how = how};
  }
};

class cutlass_convolutions_by_type : public cutlass_convolutions,
                                     public ::testing::WithParamInterface<pair_of_types> {};

TEST_P(cutlass_convolutions_by_type, results_match_the_definition) {
  const auto [first, second] = GetParam();
  for (const computed_tensor r : all_results)
    for (int i = 0; i < iterations(25) && !HasFailure(); ++i)
      expect_as_defined(any_case(r, first, second, any_result()), plain);
}
INSTANTIATE_TEST_SUITE_P(all, cutlass_convolutions_by_type, ::testing::ValuesIn(all_types), [](const auto& info) {
  return cat(to_string(info.param.first), "_", to_string(info.param.second));
});

TEST_F(cutlass_convolutions, epilogues_may_load_rows_columns_and_matrices) {
  for (const computed_tensor r : all_results)
    for (int i = 0; i < iterations(60) && !HasFailure(); ++i)
      expect_as_defined(
          any_case(r, dtype::f32, dtype::f32, dtype::f32),
          [&](auto rows, auto columns, auto batch) {
            const expression x = 2 * acc + expression(loaded(op::load_row, dtype::f32, 1, 1, columns)) -
                                 loaded(op::load_column, dtype::f16, batch, rows, 1);
            return epilogue::relu(expression::writing(x + loaded(op::load, dtype::bf16, batch, rows, columns),
                                                      operand(dtype::f32, batch, rows, columns)));
          },
          1e-5);
}

TEST_F(cutlass_convolutions, reductions_are_computed_for_each_image) {
  for (const computed_tensor r : all_results)
    for (int i = 0; i < iterations(40) && !HasFailure(); ++i)
      expect_as_defined(any_case(r, dtype::f16, dtype::f16, dtype::f32), [&](auto rows, auto columns, auto batch) {
        const expression sums =
            expression::reducing(acc, reduction::sum, reduction_scope::column, operand(dtype::f32, batch, 1, columns));
        const expression largest = expression::reducing(sums, reduction::absolute_maximum, reduction_scope::row,
                                                        operand(dtype::f32, batch, rows, 1));
        return expression::reducing(largest, reduction::maximum, reduction_scope::all,
                                    operand(dtype::f32, batch, 1, 1));
      });
}

TEST_F(cutlass_convolutions, paired_epilogues_combine_halves_of_the_channels) {
  for (const computed_tensor r : {y, dx})
    for (int i = 0; i < iterations(40) && !HasFailure(); ++i) {
      convolution_case c = any_case(r, dtype::bf16, dtype::bf16, dtype::f32);
      (r == y ? c.filters : c.channels) *= 2;
      c.pairs = true;
      expect_as_defined(c, [](auto, auto, auto) { return epilogue::left * epilogue::right + 1; });
    }
}

TEST_F(cutlass_convolutions, convolutions_of_many_panels_match_the_definition) {
  for (const computed_tensor r : all_results)
    for (const layout how : {layout::channels_first, layout::channels_last, layout::anyhow}) {
      expect_as_defined(
          large(r, how),
          [&](auto rows, auto columns, auto batch) {
            return expression::reducing(acc + loaded(op::load_row, dtype::i8, 1, 1, columns),
                                        reduction::absolute_maximum, reduction_scope::all,
                                        operand(dtype::f32, batch, 1, 1)) +
                   0 * expression(static_cast<double>(rows));
          },
          1e-6);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_convolutions, channels_copied_sixteen_bytes_at_a_time_match_the_definition) {
  for (const computed_tensor r : all_results)
    for (const std::int64_t stride : {1, 2}) {
      const dtype t = stride == 1 ? dtype::bf16 : dtype::f16;
      convolution_case c{.result = r, .first = t, .second = t, .computed = stride == 1 ? t : dtype::f32};
      c.images = 3, c.groups = stride, c.channels = 40, c.filters = 48;
      c.in = {1, 9, 7}, c.width = {1, 3, 3}, c.padding_before = {0, 1, 1}, c.padding_after = {0, 1, 0},
      c.stride = {1, stride, stride};
      c.how = layout::channels_last;
      // Sums with halves are exact in f32. With others, half types would be rounded twice.
      expect_as_defined(c, [&](auto, auto columns, auto) {
        return epilogue::relu(acc + 0.5 * expression(loaded(op::load_row, dtype::i8, 1, 1, columns)));
      });
    }
}

// Only the CUDA engine has plans.
TEST_F(cutlass_convolutions, each_tile_and_divided_sums_match_the_definition) {
  if (!engine->is_cuda()) return;
  for (const computed_tensor r : all_results)
    for (const auto& [tile_m, tile_n, divided] :
         {std::tuple{128, 128, decision::no}, {64, 64, decision::yes}, {64, 128, decision::yes}}) {
      convolution_case c{.result = r, .first = dtype::bf16, .second = dtype::bf16, .computed = dtype::f32};
      c.images = 4, c.channels = 24, c.filters = 72;
      c.in = {1, 12, 11}, c.width = {1, 3, 3}, c.padding_before = {0, 1, 1}, c.padding_after = {0, 1, 1};
      c.how = layout::channels_last;
      c.plan = {.divided = divided,
                .tile_m = static_cast<std::uint16_t>(tile_m),
                .tile_n = static_cast<std::uint16_t>(tile_n)};
      expect_as_defined(c, plain);
    }
}

TEST_F(cutlass_convolutions, convolutions_run_in_the_least_workspace) {
  if (!engine->is_cuda()) return;
  for (const computed_tensor r : all_results) {
    convolution_case c{.result = r, .first = dtype::f16, .second = dtype::f16, .computed = dtype::f16};
    c.images = 2, c.channels = 16, c.filters = 16, c.in = {1, 8, 8}, c.width = {1, 3, 3};
    c.how = layout::channels_first;
    const std::uint64_t filters = static_cast<std::uint64_t>(c.channels * c.filters) * 9 * sizeof(std::uint16_t);
    // The filters of y are always copied to another order, and the gradient of filters is computed in another order.
    c.workspace = r == dx ? 0 : (filters + 255) / 256 * 256;
    expect_as_defined(c, plain);
  }
}

TEST_F(cutlass_convolutions, i8_products_with_i32_results_match_the_definition) {
  for (const computed_tensor r : all_results) {
    convolution_case c = large(r, layout::channels_last);
    c.first = c.second = dtype::i8, c.computed = dtype::i32;
    c.channels = 12, c.filters = 9;
    expect_as_defined(c, plain);
  }
}

TEST_F(cutlass_convolutions, prepare_writes_no_operands_even_if_it_measures) {
  std::vector<float> memory(64);
  const auto operand = [&]<access_mode M>(std::size_t first, std::int64_t n) {
    return any_operand<M>(memory_range{{}, reinterpret_cast<std::uint64_t>(memory.data() + first), 128},
                          {.rank = 3, .extents = {1, 1, n}, .strides = {n, n, 1}}, dtype::f32);
  };
  const conv_forward r {
    .x = operand.template operator()<access_mode::read>(0, 8),
    .filters = operand.template operator()<access_mode::read>(16, 3),
    .y = operand.template operator()<access_mode::write>(32, 6)
  };
  const std::vector<float> before = memory;
  const auto info = engine->run(prepare{r});
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(memory, before) << "nothing is written";
  EXPECT_GE(info->log_bytes, 1u);
  const auto measured = engine->run(prepare{r, 2});
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_EQ(memory, before) << "nothing is written";
  EXPECT_EQ(measured->measured, engine->is_cuda() ? 2u : 0u);
  EXPECT_EQ(measured->source, engine->is_cuda() ? plan_source::measured : plan_source::none);
  EXPECT_EQ(measured->microseconds > 0, engine->is_cuda());
}

TEST_F(cutlass_convolutions, few_channels_that_are_padded_in_copies_match_the_definition) {
  for (const computed_tensor r : all_results)
    for (const std::int64_t channels : {1, 3, 5}) {
      convolution_case c{.result = r, .first = dtype::f16, .second = dtype::f16, .computed = dtype::f16};
      c.images = 2, c.channels = channels, c.filters = r == dx ? channels : 8, c.groups = channels == 3 ? 2 : 1;
      c.in = {1, 19, 18}, c.width = {1, 5, 5}, c.padding_before = {0, 2, 2}, c.padding_after = {0, 2, 1},
      c.stride = {1, 2, 2};
      c.how = channels == 5 ? layout::channels_first : layout::channels_last;
      expect_as_defined(c, plain);
    }
}

}  // namespace
}  // namespace troupe::cutlass
