// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of loading programs, on a driver that records its calls and has one kernel in every image.
#include <gtest/gtest.h>

#include <map>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/load.hpp>

namespace troupe::jit {
namespace {

cuda::testing::fake_driver& driver = cuda::testing::driver();

const auto ptx = std::make_shared<const std::string>(".version 8.0\n.target sm_80\n.address_size 64\n");
const kernel::gpu_limits h100{.shared_bytes = 227 * 1024, .multiprocessors = 132, .major = 9, .minor = 0};

std::shared_ptr<const gpu_program> loaded_from(const recipe& r) {
  driver.reset();
  driver.kernels = {{"k"}};
  auto made = load(r, ptx, h100);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : nullptr;
}

std::size_t loads() { return driver.count("cuModuleLoadDataEx"); }

TEST(jit_program, compiled_for_another_gpu_keeps_its_image_and_refuses_to_run) {
  const auto program = loaded_from({.source = "s", .name = "mine.cu", .kernels = {"k"}, .architecture = "sm_80"});
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(loads(), 0u);
  EXPECT_EQ(program->bytes(), *ptx);
  const auto refused = program->kernel("k", "jit.launch");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "jit.launch: mine.cu, which is compiled for sm_80 (this GPU is sm_90; leave architecture empty), has no "
            "kernel \"k\"; its kernels: none");
}

TEST(jit_program, compiled_for_this_gpu_by_name_runs_and_has_its_kernels_and_globals) {
  for (const char* architecture : {"", "sm_90a", "compute_80"}) {
    const auto program = loaded_from({.source = "s", .kernels = {"k"}, .architecture = architecture});
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(loads(), 1u) << architecture;
    EXPECT_TRUE(program->kernel("k", "jit.launch")) << architecture;
  }
  const auto missing = load({.source = "s", .name = "mine.cu", .kernels = {"other"}}, ptx, h100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "jit.compile: mine.cu: other is not a kernel; expected a __global__ function");
}

// Returns the recorded call that loads an image with these options.
std::string loading(const std::map<CUjit_option, int>& options) {
  std::string list;
  for (const auto& [option, value] : options)
    list += (list.empty() ? "" : ", ") + std::to_string(option) + " = " + std::to_string(value);
  return "cuModuleLoadDataEx(" + list + ")";
}

TEST(jit_program, ptx_is_compiled_by_the_driver_with_the_recipes_options) {
  const auto told_of = [](const recipe& r) {
    (void)loaded_from(r);
    return driver.calls().at(0);
  };
  EXPECT_EQ(told_of({.source = "s"}), loading({}));
  EXPECT_EQ(told_of({.source = "s", .optimisation = 0}), loading({{CU_JIT_OPTIMIZATION_LEVEL, 0}}));
  EXPECT_EQ(told_of({.source = "s", .optimisation = 2, .max_registers = 32}),
            loading({{CU_JIT_OPTIMIZATION_LEVEL, 2}, {CU_JIT_MAX_REGISTERS, 32}}));
  EXPECT_EQ(told_of({.source = "s", .debug_information = true}), loading({{CU_JIT_GENERATE_LINE_INFO, 1}}));
  EXPECT_EQ(told_of({.source = "s", .debug_information = true, .options = {"--device-debug"}}),
            loading({{CU_JIT_GENERATE_DEBUG_INFO, 1}}));
}

std::shared_ptr<const std::string> machine_code_of(const recipe& r) {
  const auto with = nvrtc::find();
  EXPECT_TRUE(with);
  const auto c = compiler_for(*with, r, 90);
  EXPECT_TRUE(c);
  compiled made = compile(*with, *c, r, INT64_MAX);
  EXPECT_FALSE(made.failed) << made.failed->text();
  return std::make_shared<const std::string>(std::move(made.image));
}

TEST(jit_program, machine_code_is_loaded_unchanged) {
  const recipe r{.source = "__global__ void k() {}", .optimisation = 1, .debug_information = true, .max_registers = 32};
  driver.reset();
  ASSERT_TRUE(load(r, machine_code_of(r), h100));
  EXPECT_EQ(driver.calls().at(0), loading({}));
}

TEST(jit_program, made_of_templates_only_loads_without_kernels) {
  const recipe r{.source = "template <class T> __global__ void k(T* x) { *x = 1; }", .name = "mine.cu"};
  const auto nothing_to_run = machine_code_of(r), something = machine_code_of({.source = "__global__ void k() {}"});
  driver.fail("cuModuleLoadDataEx", CUDA_ERROR_INVALID_VALUE);
  const auto program = load(r, nothing_to_run, h100);
  const auto broken = load(r, something, h100);
  driver.succeed("cuModuleLoadDataEx");
  ASSERT_TRUE(program) << program.error().text();
  const auto refused = (*program)->kernel("k", "jit.launch");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "jit.launch: mine.cu has no kernel \"k\"; its kernels: none. Name templates when you compile it");
  EXPECT_FALSE((*program)->global("x", "jit.read_global"));
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().text().find("image 'mine.cu' cannot be loaded"), std::string::npos);
}

}  // namespace
}  // namespace troupe::jit
