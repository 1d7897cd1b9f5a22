// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks which kernels the CUDA engine compiles, keeps and launches, on a fake driver that records calls. NVRTC is
// real.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>
#include <troupe/cutlass/cuda/testing/engine_on_fakes.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op;

using cutlass_cuda = testing::engine_on_fakes;

TEST_F(cutlass_cuda, one_kernel_serves_other_extents_addresses_and_numbers) {
  ASSERT_TRUE(run(product(4096))) << failure;
  EXPECT_EQ(loads(), 1u);
  gemm moved = product(4096);
  moved.a = matrix_at<access_mode::read>(1 << 21, dtype::bf16, 4096, 4096);
  for (const gemm& r : {product(4096), moved, product(8192), product(4096, 2 * acc), product(4096, -0.5 * acc)})
    ASSERT_TRUE(run(r)) << failure;
  EXPECT_EQ(loads(), 1u);
  EXPECT_EQ(launches(), 6u);
}

TEST_F(cutlass_cuda, empty_results_launch_nothing_but_their_reductions_are_written) {
  std::vector<float> largest(4096, 7), sum(1, 7);
  const auto operand = [](std::vector<float>& v, std::int64_t columns) {
    return expression::memory_operand{
        .range = {{}, reinterpret_cast<std::uint64_t>(v.data()), v.size() * sizeof(float)},
        .shape = {1, columns, columns, 1},
        .type = dtype::f32,
        .batch = 1,
        .batch_stride = 0};
  };
  gemm r = product(0);
  r.epilogue = expression::reducing(expression::reducing(acc, epilogue::reduction::maximum,
                                                         epilogue::reduction_scope::column, operand(largest, 4096)),
                                    epilogue::reduction::sum, epilogue::reduction_scope::all, operand(sum, 1));
  ASSERT_TRUE(run(r)) << failure;
  EXPECT_EQ(loads() + launches(), 0u);
  for (const float x : largest) ASSERT_EQ(x, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(sum[0], 0);
  EXPECT_TRUE(engine->run(prepare{r}));
  EXPECT_EQ(loads(), 0u);
}

TEST_F(cutlass_cuda, products_with_k_of_0_apply_only_the_epilogue) {
  gemm r = product(100);
  r.a = matrix_at<access_mode::read>(3, dtype::bf16, 100, 0);
  r.b = matrix_at<access_mode::read>(5, dtype::bf16, 0, 4096);
  r.options.plan = {.family = family::hopper};
  r.options.workspace = 0;
  ASSERT_TRUE(run(r) && run(r)) << failure;
  EXPECT_EQ(loads(), 1u);
  EXPECT_EQ(launches(), 2u);
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 0u);
}

TEST_F(cutlass_cuda, another_epilogue_type_or_layout_needs_another_kernel) {
  ASSERT_TRUE(run(product(4096)) && run(product(4096, relu(acc))) && run(product(4096, acc, dtype::f16))) << failure;
  gemm by_columns = product(4096);
  by_columns.b = matrix_at<access_mode::read>(1 << 28, dtype::bf16, 4096, 4096, true);
  ASSERT_TRUE(run(by_columns)) << failure;
  EXPECT_EQ(loads(), 4u);
}

TEST_F(cutlass_cuda, a_refusal_of_a_request_that_forbids_compiling_names_the_missing_kernel) {
  gemm r = product(4096);
  r.options.compiling = compiling::forbidden;
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("cutlass.hopper"), std::string::npos) << failure;
  EXPECT_NE(failure.find("forbids compiling"), std::string::npos) << failure;
  ASSERT_TRUE(run(product(4096))) << failure;
  EXPECT_TRUE(run(r)) << failure;
}

TEST_F(cutlass_cuda, a_product_of_a_new_size_uses_an_existing_kernel_if_compiling_is_forbidden) {
  ASSERT_TRUE(run(product(4096))) << failure;
  gemm small = product(16);
  small.options.compiling = compiling::forbidden;
  ASSERT_TRUE(run(small)) << failure;
  EXPECT_EQ(loads(), 1u);
}

TEST_F(cutlass_cuda, a_product_of_a_new_size_uses_the_best_kernel_if_compiling_is_awaited) {
  ASSERT_TRUE(run(product(4096))) << failure;
  gemm small = product(16);
  small.options.compiling = compiling::awaited;
  ASSERT_TRUE(run(small)) << failure;
  EXPECT_EQ(loads(), 2u) << "the best plan has another kernel";
}

TEST_F(cutlass_cuda, a_product_of_a_new_size_does_not_use_a_kernel_that_exceeds_workspace) {
  gemm r = product(320);
  r.options.plan = {.divided = decision::yes, .tile_m = 128, .tile_n = 128};
  ASSERT_TRUE(run(r)) << failure;
  r.options.plan = {}, r.options.compiling = compiling::forbidden;
  ASSERT_TRUE(run(r)) << failure;
  r.options.workspace = 0;
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("forbids compiling"), std::string::npos) << failure;
  r.options.compiling = compiling::allowed;
  EXPECT_TRUE(run(r)) << failure;
}

TEST_F(cutlass_cuda, no_chosen_plan_exceeds_workspace_whatever_was_compiled) {
  // The model's first plan divides tiles along k, which needs memory.
  gemm r{.a = matrix_at<access_mode::read>(1 << 20, dtype::bf16, 128, 65536),
         .b = matrix_at<access_mode::read>(1 << 28, dtype::bf16, 65536, 256, false),
         .d = matrix_at<access_mode::write>(1 << 29, dtype::bf16, 128, 256)};
  r.options.compiling = compiling::awaited;
  const auto best = engine->run(prepare{r});
  ASSERT_TRUE(best) << best.error().to_string();
  ASSERT_EQ(best->plan.divided, decision::yes);
  ASSERT_GT(best->workspace, 0u);
  for (const std::uint64_t workspace : {best->workspace - 1, std::uint64_t{0}})
    for (const compiling how : {compiling::allowed, compiling::awaited}) {
      r.options.workspace = workspace, r.options.compiling = how;
      EXPECT_TRUE(run(r)) << failure;
      const auto smaller = engine->run(prepare{r});
      ASSERT_TRUE(smaller) << smaller.error().to_string();
      EXPECT_LE(smaller->workspace, workspace);
      EXPECT_TRUE(run(r)) << failure;
    }
}

TEST_F(cutlass_cuda, more_products_or_tiles_than_kernels_can_count_are_refused) {
  const auto batch_of = [](std::int64_t batch) {
    constexpr std::int64_t rows = 300;
    const tensor_shape s{.rank = 3, .extents = {batch, rows, 1}, .strides = {rows, 1, 1}};
    return gemm{.a = matrix_at<access_mode::read>(1 << 20, dtype::bf16, rows, 64),
                .b = matrix_at<access_mode::read>(1 << 28, dtype::bf16, 64, 1, false),
                .d = out_any{{{}, 1 << 29, static_cast<std::uint64_t>(batch * rows) * 2}, s, dtype::bf16}};
  };
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 512;
  EXPECT_FALSE(run(batch_of(most + 1)));
  EXPECT_NE(failure.find("batch is 2147483137; expected at most 2147483136 of each"), std::string::npos) << failure;
  EXPECT_FALSE(run(batch_of(most)));
  EXPECT_NE(failure.find("batch is 2147483136: the kernel would count "), std::string::npos) << failure;
  EXPECT_EQ(launches(), 0u);
  EXPECT_TRUE(run(batch_of(1 << 20))) << failure;
}

TEST_F(cutlass_cuda, a_missing_kernel_is_looked_up_once_and_not_for_each_new_size) {
  ASSERT_TRUE(run(product(4096))) << failure;
  const auto look_ups_of_sizes_from = [&](std::int64_t first) {
    (void)engine->run(read_statistics{.start_anew = true});
    for (std::int64_t m = first; m < 1500; m += 31) EXPECT_TRUE(run(product(m))) << failure;
    return engine->run(read_statistics{}).value().misses;
  };
  const std::uint64_t first = look_ups_of_sizes_from(17), second = look_ups_of_sizes_from(18);
  constexpr std::uint64_t sizes = 48;
  EXPECT_LE(first, 8 * sizes) << "each kernel once; there are about 50 plans for each size";
  EXPECT_LE(second, 2 * sizes) << "the best kernels are compiled in the background";
}

TEST_F(cutlass_cuda, the_best_kernel_is_compiled_while_another_computes) {
  ASSERT_TRUE(run(product(4096)) && run(product(16))) << failure;
  for (int i = 0; i < 600 && loads() < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(loads(), 2u);
  gemm awaits = product(16);
  awaits.options.compiling = compiling::awaited;
  ASSERT_TRUE(run(awaits)) << failure;
  EXPECT_EQ(loads(), 2u) << "the best kernel is loaded";
}

TEST_F(cutlass_cuda, a_kernel_is_refused_if_its_parameter_size_differs_from_the_hosts) {
  set_layout(sizeof(kernels::fixed_arguments) + 128);
  EXPECT_FALSE(run(product(4096)));
  EXPECT_NE(failure.find("bytes in device code"), std::string::npos) << failure;
  EXPECT_EQ(launches(), 0u);
}

TEST_F(cutlass_cuda, a_requested_plan_is_used_or_the_error_names_the_nearest_possible_plan) {
  gemm r = product(4096);
  r.options.plan = {.schedule = schedule::ping_pong, .cluster_m = 2, .tile_m = 128, .tile_n = 128};
  ASSERT_TRUE(run(r)) << failure;
  r.options.plan = {.schedule = schedule::ping_pong, .tile_m = 128, .tile_n = 256};
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("the nearest possible plan is hopper 128x256x64"), std::string::npos) << failure;
  r.options.plan = {.stages = 9, .tile_m = 128, .tile_n = 256};
  EXPECT_FALSE(run(r)) << "9 stages need more shared memory than there is";
}

TEST_F(cutlass_cuda, the_template_for_sm_80_computes_products_that_the_hopper_template_cannot) {
  gemm r = product(4096);
  r.a = matrix_at<access_mode::read>((1 << 20) + 2, dtype::bf16, 4096, 4096);
  ASSERT_TRUE(run(r)) << failure;
  driver.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 7;
  open();
  EXPECT_FALSE(run(product(4096)));
  EXPECT_NE(failure.find("needs a GPU of capability 8.0 or more, not 7.0"), std::string::npos) << failure;
}

TEST_F(cutlass_cuda, a_plan_that_needs_more_than_workspace_is_refused) {
  gemm r = product(128);
  r.options.plan = {.divided = decision::yes};
  ASSERT_TRUE(run(r)) << failure;
  r.options.workspace = 16;
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("workspace is 16"), std::string::npos) << failure;
}

// Nothing is computed, and the fake driver sets the times. The operands have memory, because measuring copies them.
class cutlass_measured_plans : public cutlass_cuda {
 protected:
  static constexpr std::size_t most_bytes = 32768;
  template <access_mode M>
  any_operand<M> placed(std::size_t number, std::initializer_list<std::int64_t> extents) {
    tensor_shape s{.rank = extents.size()};
    std::copy(extents.begin(), extents.end(), s.extents.begin());
    std::int64_t stride = 1;
    for (std::size_t i = s.rank; i-- > 0; stride *= s.extents[i]) s.strides[i] = stride;
    return {{{}, reinterpret_cast<std::uint64_t>(memory[number]), most_bytes}, s, dtype::bf16};
  }
  // Returns images whose channels are contiguous.
  template <access_mode M>
  any_operand<M> images(std::size_t number, std::int64_t count, std::int64_t channels, std::int64_t side) {
    tensor_shape s{.rank = 4};
    s.extents = {count, channels, side, side}, s.strides = {channels * side * side, 1, channels * side, channels};
    return {{{}, reinterpret_cast<std::uint64_t>(memory[number]), most_bytes}, s, dtype::bf16};
  }
  // Lets the fake driver report 3 ms for each average of the first plan, and 1 ms for the second.
  template <class Prepare>
  void expect_second_plan(const Prepare& measuring) {
    Prepare by_model = measuring;
    by_model.measure = 0;
    const auto first = engine->run(by_model);
    ASSERT_TRUE(first) << first.error().to_string();
    driver.elapsed_ms = {3, 3, 3, 3, 3};
    driver.reset();
    driver.computes = true;
    const std::size_t pieces = driver.device_pieces();
    const auto info = engine->run(measuring);
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_EQ(info->measured, 2u);
    EXPECT_EQ(info->source, plan_source::measured);
    EXPECT_FLOAT_EQ(info->first_microseconds, 3000.f / 4);
    EXPECT_FLOAT_EQ(info->microseconds, 1000.f / 12);
    EXPECT_NE(info->plan, first->plan);
    EXPECT_EQ(driver.count("cuLaunchKernelEx"), (3u + 3 + 3 * 4) + (3 + 3 + 3 * 12)) << "the launches of the averages";
    EXPECT_EQ(driver.count("cuMemcpyAsync"), 2u * 64) << "both factors, for each copy of the operands";
    EXPECT_EQ(driver.device_pieces(), pieces) << "the copies are freed";
    const auto again = engine->run(by_model);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->plan, info->plan) << "the measured plan is stored, also without a folder";
    EXPECT_EQ(again->source, plan_source::stored);
  }

  alignas(256) std::byte memory[3][most_bytes]{};
};

TEST_F(cutlass_measured_plans, the_fastest_plan_of_a_product_is_used) {
  const gemm r{.a = placed<access_mode::read>(0, {128, 64}),
               .b = placed<access_mode::read>(1, {64, 128}),
               .d = placed<access_mode::write>(2, {128, 128})};
  expect_second_plan(prepare{r, 2});
}

TEST_F(cutlass_measured_plans, the_fastest_plan_of_a_convolution_is_used) {
  const conv_forward r{.x = images<access_mode::read>(0, 2, 8, 12),
                       .filters = images<access_mode::read>(1, 16, 8, 3),
                       .y = images<access_mode::write>(2, 2, 16, 12),
                       .padding = 1};
  set_layout(convolution_bytes() + sizeof(kernels::fixed_arguments) + 64);
  expect_second_plan(prepare{r, 2});
}

}  // namespace
}  // namespace troupe::cutlass
