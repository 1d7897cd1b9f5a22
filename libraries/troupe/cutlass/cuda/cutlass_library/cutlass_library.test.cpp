// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks when and how the engine launches CUTLASS's kernels, on a fake driver with fakes of these kernels: see
// testing/vendor_table.cpp.
#include <gtest/gtest.h>

#include <filesystem>
#include <troupe/cutlass/cuda/testing/engine_on_fakes.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::expression;

class cutlass_library_kernels : public testing::engine_on_fakes {
 protected:
  cutlass_library_kernels() { open_with(TROUPE_ENGINE_UNDER_TEST); }
  ~cutlass_library_kernels() override {
    ::setenv("TROUPE_CUTLASS", "/none", 1);
    ::setenv("TROUPE_CACHE", "off", 1);
  }
  void open_with(const std::string& plug_in) {
    ::setenv("TROUPE_CUTLASS", plug_in.c_str(), 1);
    engine.reset();
    open();
    driver.computes = false;
  }
  static gemm library_request(const expression& e = acc, plan p = {.family = family::vendor}) {
    gemm r = product(128, e);
    r.options.plan = p;
    return r;
  }
  // Returns the calls that launch a fake kernel of this name.
  std::vector<std::string> calls_of(const std::string& begin) const {
    std::vector<std::string> out;
    for (const std::string& call : driver.calls())
      if (call.starts_with(begin)) out.push_back(call);
    return out;
  }
  const plan divided{.family = family::vendor, .divided = decision::yes};
};

TEST_F(cutlass_library_kernels, a_request_whose_plan_is_known_enqueues_only_the_kernel) {
  ASSERT_TRUE(run(library_request(2 * acc))) << failure;
  driver.reset();
  ASSERT_TRUE(run(library_request(-0.5 * acc))) << failure;
  EXPECT_EQ(driver.calls().size(), 1u) << "nothing is allocated, waited for or queried";
  EXPECT_EQ(driver.calls().front().substr(0, 4), "fake");
  EXPECT_NE(driver.calls().front().find("128, 4096, 4096, 1, -0.5, 0"), std::string::npos) << driver.calls().front();
}

TEST_F(cutlass_library_kernels, a_kernel_uses_the_memory_of_its_lane_up_to_workspace) {
  ASSERT_TRUE(run(library_request(acc, divided))) << failure;
  EXPECT_EQ(calls_of("fake90_bf16_stream_k").size(), 1u);
  EXPECT_EQ(driver.count("cuMemAllocAsync"), 1u);
  driver.reset();
  ASSERT_TRUE(run(library_request(acc, divided))) << failure;
  EXPECT_EQ(driver.calls().size(), 1u);
  gemm r = library_request(acc, divided);
  r.options.workspace = 8191;
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("because fake90_bf16_stream_k needs 8192 bytes of memory, and workspace is 8191"),
            std::string::npos)
      << failure;
  r.options.plan.divided = decision::any;
  EXPECT_TRUE(run(r)) << "another kernel needs no memory: " << failure;
}

TEST_F(cutlass_library_kernels, the_size_of_a_kernels_parameters_is_checked_once) {
  ASSERT_TRUE(run(library_request(acc, divided)) && run(library_request(acc, divided))) << failure;
  gemm other = library_request(acc, divided);
  other.a = matrix_at<access_mode::read>(1 << 20, dtype::bf16, 256, 4096);
  other.d = matrix_at<access_mode::write>(1 << 29, dtype::bf16, 256, 4096);
  ASSERT_TRUE(run(other)) << failure;
  EXPECT_EQ(driver.count("read_parameter_bytes"), 1u);
}

TEST_F(cutlass_library_kernels, a_kernel_is_not_launched_if_its_parameter_size_differs_from_the_hosts) {
  gemm r = library_request();
  r.a = matrix_at<access_mode::read>(1 << 20, dtype::f16, 128, 4096);
  r.b = matrix_at<access_mode::read>(1 << 28, dtype::f16, 4096, 4096, false);
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("fake90_disagrees: the kernel has 1280 bytes of parameters; the host fills 368"),
            std::string::npos)
      << failure;
  EXPECT_TRUE(calls_of("fake90_disagrees").empty());
}

TEST_F(cutlass_library_kernels, a_failed_launch_fails_the_request) {
  ASSERT_TRUE(run(library_request(acc, divided))) << failure;
  driver.fail("fake90_bf16_stream_k", CUDA_ERROR_INVALID_VALUE, 1);
  EXPECT_FALSE(run(library_request(acc, divided)));
  EXPECT_NE(failure.find("fake90_bf16_stream_k: CUDA refused the launch"), std::string::npos) << failure;
  EXPECT_TRUE(run(library_request(acc, divided))) << failure;
}

TEST_F(cutlass_library_kernels, a_request_that_forbids_compiling_can_use_a_kernel_of_cutlass) {
  gemm r = library_request();
  r.options.compiling = compiling::forbidden;
  EXPECT_TRUE(run(r)) << failure;
  EXPECT_EQ(loads(), 0u);
}

TEST_F(cutlass_library_kernels, a_refusal_names_the_nearest_plan_and_the_kernels_requirement) {
  EXPECT_FALSE(run(library_request(relu(acc))));
  EXPECT_NE(failure.find("computes alpha * acc + beta * c, and no other epilogue; the nearest possible plan is hopper"),
            std::string::npos)
      << failure;
  gemm r = library_request();
  r.a = matrix_at<access_mode::read>((1 << 20) + 2, dtype::bf16, 128, 4096);
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("a begins 2 bytes after a multiple of 16 bytes"), std::string::npos) << failure;
  EXPECT_FALSE(run(library_request(acc, {.family = family::vendor, .tile_m = 16})));
  EXPECT_NE(failure.find("band any; the nearest possible plan is vendor 128x256x"), std::string::npos) << failure;
}

TEST_F(cutlass_library_kernels, a_refusal_of_scales_names_the_expected_order) {
  gemm r = library_request();
  r.a = matrix_at<access_mode::read>(1 << 20, dtype::f8e4m3, 128, 4096);
  r.b = matrix_at<access_mode::read>(1 << 28, dtype::f8e4m3, 4096, 4096, false);
  r.a_scales = matrix_at<access_mode::read>(1 << 25, dtype::f8e8m0, 128, 128);
  r.b_scales = matrix_at<access_mode::read>(1 << 26, dtype::f8e8m0, 128, 4096, false);
  r.options.accumulation = matmul::accumulation::fast;
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("fake90_mxfp8 takes scales in atoms of 128 lines and 4 blocks"), std::string::npos) << failure;
  // Scales in the expected order: 32 lines of 4 blocks, 16 bytes from line to line.
  r.a = matrix_at<access_mode::read>(1 << 20, dtype::f8e4m3, 32, 128);
  r.b = matrix_at<access_mode::read>(1 << 28, dtype::f8e4m3, 128, 32, false);
  r.d = matrix_at<access_mode::write>(1 << 29, dtype::bf16, 32, 32);
  tensor_shape s{.rank = 2};
  s.extents = {32, 4}, s.strides = {16, 1};
  r.a_scales = in_any{{{}, 1 << 25, 512}, s, dtype::f8e8m0};
  s.extents = {4, 32}, s.strides = {1, 16};
  r.b_scales = in_any{{{}, 1 << 26, 512}, s, dtype::f8e8m0};
  EXPECT_TRUE(run(r)) << failure;
  EXPECT_EQ(calls_of("fake90_mxfp8(32, 32, 128").size(), 1u);
}

TEST_F(cutlass_library_kernels, scales_in_another_order_are_refused_after_an_otherwise_equal_request) {
  gemm r = library_request();
  r.a = matrix_at<access_mode::read>(1 << 20, dtype::f8e4m3, 32, 128);
  r.b = matrix_at<access_mode::read>(1 << 28, dtype::f8e4m3, 128, 32, false);
  r.d = matrix_at<access_mode::write>(1 << 29, dtype::bf16, 32, 32);
  r.options.accumulation = matmul::accumulation::fast;
  const auto scales = [&](std::int64_t line) {
    r.a_scales = in_any{{{}, 1 << 25, 512}, {.rank = 2, .extents = {32, 4}, .strides = {line, 1}}, dtype::f8e8m0};
    r.b_scales = in_any{{{}, 1 << 26, 512}, {.rank = 2, .extents = {4, 32}, .strides = {1, line}}, dtype::f8e8m0};
  };
  scales(16);
  ASSERT_TRUE(run(r)) << failure;
  scales(4);
  EXPECT_FALSE(run(r));
  EXPECT_NE(failure.find("takes scales in atoms of 128 lines and 4 blocks"), std::string::npos) << failure;
  EXPECT_EQ(calls_of("fake90_mxfp8").size(), 1u);
}

TEST_F(cutlass_library_kernels, a_missing_plug_in_fails_only_requests_that_need_it) {
  open_with("/nonexistent/vendor.so");
  driver.computes = true;
  EXPECT_FALSE(run(library_request()));
  for (const char* const part : {"the CUTLASS plug-in cannot be loaded", "/nonexistent/vendor.so",
                                 "scripts/setup cutlass", "the nearest possible plan is hopper"})
    EXPECT_NE(failure.find(part), std::string::npos) << part << " in " << failure;
  EXPECT_TRUE(run(product(128))) << failure;
}

TEST_F(cutlass_library_kernels, the_notes_name_the_plug_in_or_why_it_is_missing) {
  const auto notes = [&] { return std::string(engine->interface().notes(&engine->interface())); };
  EXPECT_NE(notes().find("CUTLASS: 0.0.0 of fakes"), std::string::npos) << notes();
  EXPECT_NE(notes().find("only compiled, and never run: fake120_mxfp8"), std::string::npos) << notes();
  open_with("/nonexistent/vendor.so");
  EXPECT_NE(notes().find("the CUTLASS plug-in cannot be loaded"), std::string::npos) << notes();
}

TEST_F(cutlass_library_kernels, kernels_of_cutlass_and_of_templates_are_measured_and_the_choice_is_stored) {
  const auto folder = std::filesystem::temp_directory_path() / "troupe_cutlass_vendor_test";
  std::filesystem::remove_all(folder);
  ::setenv("TROUPE_CACHE", folder.c_str(), 1);
  open_with(TROUPE_ENGINE_UNDER_TEST);
  driver.computes = true;
  std::vector<std::byte> memory(3 * 32768 + 256);
  const std::uint64_t at = (reinterpret_cast<std::uint64_t>(memory.data()) + 255) / 256 * 256;
  const gemm r{.a = matrix_at<access_mode::read>(at, dtype::bf16, 64, 64),
               .b = matrix_at<access_mode::read>(at + 32768, dtype::bf16, 64, 64, false),
               .d = matrix_at<access_mode::write>(at + 65536, dtype::bf16, 64, 64)};
  driver.elapsed_ms = std::deque<float>(10, 3.0f);  // 3 ms for two kernels of templates, then 1 ms
  const auto info = engine->run(prepare{r, 2});
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(info->measured, 2u + 3 + 1) << "two of templates, three of CUTLASS for bf16, and one for older GPUs";
  EXPECT_EQ(info->plan.family, family::vendor);
  EXPECT_EQ(info->kernel, kernel_source::vendor);
  EXPECT_EQ(info->source, plan_source::measured);
  open_with(TROUPE_ENGINE_UNDER_TEST);
  driver.computes = true;
  const auto again = engine->run(prepare{r});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->plan.family, family::vendor) << "prepare without measuring uses the stored choice";
  EXPECT_EQ(again->source, plan_source::stored);
  EXPECT_EQ(again->microseconds, info->microseconds);
  ASSERT_TRUE(run(r)) << failure;
  EXPECT_EQ(calls_of("fake").size(), 1u);
  open_with(TROUPE_ENGINE_UNDER_TEST);
  ASSERT_TRUE(run(r)) << failure;
  EXPECT_EQ(calls_of("fake").size(), 1u) << "another process has stored the choice";
  std::filesystem::remove_all(folder);
  open_with("/nonexistent/vendor.so");
  driver.computes = true;
  ASSERT_TRUE(run(r)) << failure;
  EXPECT_EQ(calls_of("fake").size(), 0u);
}

TEST_F(cutlass_library_kernels, groups_are_listed_before_their_product) {
  const gemm_grouped r{.a = matrix_at<access_mode::read>(1 << 20, dtype::bf16, 96, 64),
                       .b = in_any{{{}, 1 << 22, 3 * 64 * 32 * 2},
                                   {.rank = 3, .extents = {3, 64, 32}, .strides = {2048, 1, 64}},
                                   dtype::bf16},
                       .d = matrix_at<access_mode::write>(1 << 24, dtype::bf16, 96, 32),
                       .sizes = in<std::int32_t>(1 << 26, 3),
                       .options = {.plan = {.family = family::vendor}}};
  ASSERT_TRUE(engine->run(r));
  driver.reset();
  const auto done = engine->run(r);
  ASSERT_TRUE(done) << done.error().to_string();
  const auto calls = driver.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(calls[0].starts_with("cuLaunchKernel(troupe_cutlass_vendor_groups")) << calls[0];
  EXPECT_TRUE(calls[1].starts_with("fake90_bf16_grouped(")) << calls[1];
}

}  // namespace
}  // namespace troupe::cutlass
