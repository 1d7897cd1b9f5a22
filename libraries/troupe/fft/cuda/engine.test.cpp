// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which calls transforms in a group make, on a driver and a cuFFT that only record their calls.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/fft/cuda/engine.hpp>
#include <troupe/fft/cuda/kernel_arguments.hpp>
#include <vector>

namespace troupe::fft {
namespace {

using strings = std::vector<std::string>;
using transform = c2c<complex64>;

class fft_groups : public ::testing::Test {
 protected:
  static constexpr std::size_t n = 8, most = 8;

  fft_groups() {
    driver.reset();
    driver.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9;
    driver.kernels.clear();
#define KERNEL(NAME, ARGUMENTS, ...) \
  driver.kernels.push_back({"troupe_fft_" #NAME, sizeof(kernel_arguments::ARGUMENTS)});
#include <troupe/fft/cuda/kernel_list.inc>
#undef KERNEL
    const troupe_engine_context context{.abi = troupe_engine_abi, .lanes = 1, .forbids_compiling = 1};
    auto made = cufft::make(context);
    if (!made) throw std::runtime_error(made.error().text());
    engine = std::move(*made);
  }
  ~fft_groups() override {
    engine.reset();
    driver.reset();
    driver.attributes.clear();
    driver.kernels.clear();
  }

  template <access_mode M>
  static operand<complex64, M> place(std::vector<complex64>& memory, std::size_t i) {
    return {reinterpret_cast<std::uintptr_t>(memory.data() + i * n), n};
  }
  // Runs `count` transforms that are adjacent in memory, and returns the calls that enqueue work.
  result<void> run(std::size_t count, bool in_place, normalization how) {
    std::array<std::array<std::byte, payload_bytes<transform>>, most> payloads;
    std::vector<const void*> all;
    for (std::size_t i = 0; i < count; ++i) {
      const transform r{.input = place<access_mode::read>(x, i),
                        .output = place<access_mode::write>(in_place ? x : y, i),
                        .n = n,
                        .normalization = how};
      encode(r, payloads[i].data(), {});
      all.push_back(payloads[i].data());
    }
    std::array<std::byte, max_reply_bytes> reply;
    const std::vector<troupe_engine_call> calls(count, {.stream = stream,
                                                        .lane = 0,
                                                        .reserved = 0,
                                                        .ticket = 1,
                                                        .reply = reply.data(),
                                                        .news = [](void*) {},
                                                        .worker = nullptr,
                                                        .recording = nullptr});
    call c(calls[0]);
    const auto done =
        engine->run_group(group<transform>(all.data(), calls.data(), static_cast<std::uint32_t>(count)), c);
    enqueued.clear();
    for (const std::string& one : driver.calls())
      if (one.starts_with("cuLaunchKernel") || one.starts_with("cufftXtExec")) enqueued.push_back(one);
    return done;
  }
  static bool launches(const std::string& call, const char* kernel) { return call.find(kernel) != std::string::npos; }

  cuda::testing::fake_driver& driver = cuda::testing::driver();
  std::unique_ptr<cufft> engine;
  std::vector<complex64> x = std::vector<complex64>(n * most), y = std::vector<complex64>(n * most);
  char its_stream = 0;
  void* stream = &its_stream;
  strings enqueued;
};

TEST_F(fft_groups, adjacent_transforms_take_a_call_for_each_power_of_two_in_their_number) {
  ASSERT_TRUE(run(7, false, normalization::none));
  ASSERT_EQ(enqueued.size(), 3u);
  for (const std::string& one : enqueued) EXPECT_TRUE(one.starts_with("cufftXtExec")) << one;
}

// If a call fails, each member is transformed alone, so a member must not have been transformed in place before.
TEST_F(fft_groups, results_in_place_are_written_by_the_last_launch_only) {
  for (const auto how : {normalization::none, normalization::forward})
    for (const std::size_t count : {std::size_t{4}, std::size_t{7}}) {
      driver.reset();
      ASSERT_TRUE(run(count, true, how));
      ASSERT_EQ(enqueued.size(), 3u) << count;
      EXPECT_TRUE(launches(enqueued[0], "collect")) << enqueued[0];
      EXPECT_TRUE(enqueued[1].starts_with("cufftXtExec")) << enqueued[1];
      EXPECT_TRUE(launches(enqueued[2], "distribute")) << enqueued[2];
    }
}

TEST_F(fft_groups, a_group_whose_plan_fails_enqueues_nothing) {
  driver.fail("cufftXtExec", CUFFT_EXEC_FAILED, 1);
  EXPECT_FALSE(run(7, true, normalization::none));
  ASSERT_EQ(enqueued.size(), 2u);
  EXPECT_TRUE(launches(enqueued[0], "collect")) << enqueued[0];
}

}  // namespace
}  // namespace troupe::fft
