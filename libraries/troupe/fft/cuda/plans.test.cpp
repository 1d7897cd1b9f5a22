// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests plans, on a driver and a cuFFT that only record their calls.

#include <gtest/gtest.h>

#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/fft/cuda/plans.hpp>

namespace troupe::fft {
namespace {

using strings = std::vector<std::string>;

class cufft_plans : public ::testing::Test {
 protected:
  void SetUp() override { driver.reset(); }
  static plan_key key(const shape& n, extent batch = 1, const layout& in = {}, const layout& out = {}) {
    return key_of(n, in, n, CUDA_C_32F, out, n, CUDA_C_32F, batch);
  }
  cuda::testing::fake_driver& driver = cuda::testing::driver();
};

TEST_F(cufft_plans, pass_extents_strides_embeds_and_distances_to_cufft) {
  plans all;
  const shape n{4, 6};
  const auto made = all.find(
      key_of(n, {.embed = {5, 8}, .stride = 3}, n, CUDA_R_64F, {.distance = 99}, half_of(n), CUDA_C_64F, 7), nullptr);
  ASSERT_TRUE(made) << made.error().text();
  const strings calls = driver.calls();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_TRUE(calls[0].starts_with("cufftCreate"));
  EXPECT_TRUE(calls[1].starts_with("cufftSetAutoAllocation") && calls[1].ends_with(", 0)")) << calls[1];
  const std::string want = ", 2, 4, 6, 1, 5, 8, 1, 3, 120, " + std::to_string(CUDA_R_64F) + ", 4, 4, 1, 1, 99, " +
                           std::to_string(CUDA_C_64F) + ", 7, " + std::to_string(CUDA_C_64F) + ")";
  EXPECT_TRUE(calls[2].ends_with(want)) << calls[2] << " and not " << want;
  EXPECT_TRUE(calls[3].starts_with("cuStreamSynchronize of the default stream")) << calls[3];
  EXPECT_EQ((*made)->work_bytes(), 4u * 7 * 8);
}

// A kernel would read a null pointer from a plan whose tables have not arrived on the device.
TEST_F(cufft_plans, are_used_only_after_cufft_has_copied_their_tables) {
  plans all;
  driver.fail("cuStreamSynchronize of the default stream", CUDA_ERROR_LAUNCH_FAILED, 1);
  const auto made = all.find(key(8), nullptr);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reaction(), reaction::context_lost);
  EXPECT_EQ(driver.count("cufftDestroy"), 1u);
}

TEST_F(cufft_plans, are_made_once_for_each_combination_of_extents_strides_and_types) {
  plans all;
  const plan_key same = key({8, 8}, 2);
  const auto first = all.find(same, nullptr);
  EXPECT_EQ(*all.find(key({8, 8}, 2), nullptr), *first);
  EXPECT_EQ(driver.count("cufftXtMakePlanMany"), 1u);
  const plan_key others[] = {key({8, 4}, 2),
                             key(64, 2),
                             key({8, 8}, 3),
                             key({8, 8}, 2, {.embed = {8, 9}}),
                             key({8, 8}, 2, {.stride = 2}),
                             key({8, 8}, 2, {.distance = 65}),
                             key({8, 8}, 2, {}, {.distance = 65}),
                             key_of({8, 8}, {}, {8, 8}, CUDA_C_64F, {}, {8, 8}, CUDA_C_64F, 2)};
  for (const plan_key& k : others) EXPECT_NE(*all.find(k, nullptr), *first);
  EXPECT_EQ(all.count().plans, 1 + std::size(others));
}

TEST_F(cufft_plans, beyond_the_limit_are_destroyed_once_the_gpu_has_finished) {
  plans all;
  for (std::int64_t n = 1; n <= static_cast<std::int64_t>(plans::most) + 5; ++n) ASSERT_TRUE(all.find(key(n), nullptr));
  EXPECT_EQ(all.count().plans, plans::most);
  EXPECT_EQ(driver.count("cufftDestroy"), 5u);
  EXPECT_EQ(driver.count("cuCtxSynchronize"), 5u);
  driver.reset();
  EXPECT_TRUE(all.find(key(6), nullptr));
  EXPECT_EQ(driver.count("cufftXtMakePlanMany"), 0u) << "the least recently used plan that remains";
  EXPECT_TRUE(all.find(key(1), nullptr));
  EXPECT_EQ(driver.count("cufftXtMakePlanMany"), 1u);
}

TEST_F(cufft_plans, that_cannot_be_made_leave_no_memory_and_no_handle) {
  plans all;
  std::int64_t n = 8;
  for (const auto& [call, status, how] :
       {std::tuple("cufftCreate", CUFFT_SETUP_FAILED, reaction::fatal),
        std::tuple("cufftXtMakePlanMany", CUFFT_ALLOC_FAILED, reaction::retry_later),
        std::tuple("cufftXtMakePlanMany", CUFFT_NOT_SUPPORTED, reaction::unsupported),
        std::tuple("cufftXtMakePlanMany", CUFFT_INVALID_SIZE, reaction::unsupported)}) {
    driver.reset();
    driver.fail(call, status, 1);
    const auto made = all.find(key(++n), nullptr);
    ASSERT_FALSE(made);
    if (how != reaction::fatal) {
      EXPECT_EQ(made.error().reaction(), how);
    }
    EXPECT_NE(made.error().text().find(call), std::string::npos) << made.error().text();
    EXPECT_EQ(driver.count("cufftDestroy"), call == std::string_view("cufftCreate") ? 0u : 1u);
    EXPECT_EQ(all.count().plans, 0u);
    // A transform that cuFFT does not support is not tried again; other failures are tried again.
    EXPECT_EQ(all.find(key(n), nullptr).has_value(), how != reaction::unsupported);
    all.forget(0);
  }
}

TEST_F(cufft_plans, report_a_lost_context_or_full_memory_instead_of_cuffts_status) {
  plans all;
  const auto answer_to = [&](cufftResult status) {
    driver.fail("cufftXtMakePlanMany", status, 1);
    const auto made = all.find(key(1009), nullptr);
    return made ? error(reaction::fatal, "test", "the plan was made") : made.error();
  };
  for (const cufftResult status : {CUFFT_INVALID_SIZE, CUFFT_ALLOC_FAILED, CUFFT_INTERNAL_ERROR}) {
    driver.reset();
    driver.fail("cuStreamIsCapturing", CUDA_ERROR_ASSERT);
    EXPECT_EQ(answer_to(status).reaction(), reaction::context_lost) << status;
    driver.reset();
    driver.fail("cuStreamQuery", CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(answer_to(status).reaction(), reaction::context_lost) << status;
    driver.reset();
    driver.free_memory = 1 << 20;
    const error full = answer_to(status);
    EXPECT_EQ(full.reaction(), reaction::retry_later) << status;
    EXPECT_NE(full.text().find("memory is full"), std::string::npos) << full.text();
  }
}

// The fake links as cuFFT does: two functions of one image in one kernel, or in two kernels.
TEST_F(cufft_plans, link_both_callbacks_whether_one_kernel_has_them_or_two) {
  const auto image = std::make_shared<const std::string>("image"),
             beside = std::make_shared<const std::string>("other");
  const link_time_code code({.loads = true, .stores = true, .in = dtype::c64, .out = dtype::c64, .encoded = {}}, image,
                            beside);
  const auto set = [&] {
    strings out;
    for (const std::string& call : driver.calls())
      if (call.starts_with("cufftXtSetJITCallback")) out.push_back(call);
    return out;
  };
  ASSERT_TRUE(plan::make(key(16), &code));
  strings calls = set();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0].find(load_function), std::string::npos) << calls[0];
  EXPECT_NE(calls[1].find(forwarding_function), std::string::npos) << calls[1];

  driver.reset();
  driver.fail("cufftXtMakePlanMany", CUFFT_INTERNAL_ERROR, 1);
  ASSERT_TRUE(plan::make(key(1 << 20), &code));
  calls = set();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_NE(calls[2].find(load_function), std::string::npos) << calls[2];
  EXPECT_NE(calls[3].find(store_function), std::string::npos) << calls[3];
  EXPECT_EQ(calls[3].find(forwarding_function), std::string::npos) << calls[3];
  EXPECT_EQ(driver.count("cufftDestroy"), 2u) << "the first, and the second, which is not cached";

  driver.reset();
  driver.fail("cufftXtMakePlanMany", CUFFT_NOT_SUPPORTED, 1);
  const auto none = plan::make(key(1'000'003), &code);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reaction(), reaction::unsupported);
  EXPECT_NE(none.error().text().find("callbacks"), std::string::npos);
  EXPECT_EQ(driver.count("cufftXtMakePlanMany"), 1u);
}

TEST_F(cufft_plans, get_their_stream_and_work_area_before_each_run) {
  const auto made = plan::make(key(8), nullptr);
  ASSERT_TRUE(made);
  driver.reset();
  int area = 0;
  bool broken = false;
  ASSERT_TRUE((*made)->run(nullptr, &area, nullptr, nullptr, false, broken));
  const strings calls = driver.calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_TRUE(calls[0].starts_with("cufftSetStream"));
  EXPECT_TRUE(calls[1].starts_with("cufftSetWorkArea"));
  EXPECT_TRUE(calls[2].starts_with("cufftXtExec") && calls[2].ends_with(", 1)")) << calls[2];
  driver.fail("cufftXtExec", CUFFT_EXEC_FAILED, 1);
  EXPECT_FALSE((*made)->run(nullptr, &area, nullptr, nullptr, true, broken));
}

}  // namespace
}  // namespace troupe::fft
