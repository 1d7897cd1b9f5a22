// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How programs come to a GPU, on a driver that only notes what it is told and has one kernel in every image.
#include <gtest/gtest.h>

#include <map>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/load.hpp>

namespace {

int loaded = 0;
CUresult answer = CUDA_SUCCESS;               // of the driver that is asked to load
std::map<CUjit_option, std::uintptr_t> told;  // of the last image, without where messages go

}  // namespace

extern "C" {
CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice*, int) { return CUDA_ERROR_NOT_INITIALIZED; }
CUresult cuDeviceGetAttribute(int*, CUdevice_attribute, CUdevice) { return CUDA_ERROR_NOT_INITIALIZED; }
CUresult cuModuleLoadDataEx(CUmodule* out, const void*, unsigned count, CUjit_option* options, void** values) {
  ++loaded;
  if (answer != CUDA_SUCCESS) return answer;
  told.clear();
  for (unsigned i = 0; i < count; ++i)
    if (options[i] != CU_JIT_ERROR_LOG_BUFFER && options[i] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      told[options[i]] = reinterpret_cast<std::uintptr_t>(values[i]);
  return *out = reinterpret_cast<CUmodule>(1), CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetGlobal(CUdeviceptr*, std::size_t*, CUmodule, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuModuleGetFunctionCount(unsigned* out, CUmodule) { return *out = 1, CUDA_SUCCESS; }
CUresult cuModuleEnumerateFunctions(CUfunction* out, unsigned, CUmodule) {
  return *out = reinterpret_cast<CUfunction>(1), CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction) { return CUDA_SUCCESS; }
CUresult cuFuncGetName(const char** out, CUfunction) { return *out = "k", CUDA_SUCCESS; }
CUresult cuFuncGetAttribute(int* out, CUfunction_attribute, CUfunction) { return *out = 0, CUDA_SUCCESS; }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuFuncGetParamInfo(CUfunction, std::size_t, std::size_t*, std::size_t*) { return CUDA_ERROR_INVALID_VALUE; }
}

namespace troupe::jit {
namespace {

const auto ptx = std::make_shared<const std::string>(".version 8.0\n.target sm_80\n.address_size 64\n");
const kernel::gpu_limits h100{.shared_bytes = 227 * 1024, .multiprocessors = 132, .major = 9, .minor = 0};

std::shared_ptr<const gpu_program> loaded_from(const recipe& r) {
  auto made = load(r, ptx, h100);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : nullptr;
}

TEST(a_program, that_is_compiled_for_another_gpu_has_its_image_and_says_why_it_does_not_run) {
  loaded = 0;
  const auto program = loaded_from({.source = "s", .name = "mine.cu", .kernels = {"k"}, .architecture = "sm_80"});
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(loaded, 0);
  EXPECT_EQ(program->bytes(), *ptx);
  const auto refused = program->kernel("k", "jit.launch");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "jit.launch: mine.cu, which is compiled for sm_80 (this GPU is sm_90; leave architecture empty), has no "
            "kernel \"k\"; its kernels: none");
}

TEST(a_program, that_is_compiled_for_this_gpu_by_name_runs_and_has_what_it_names) {
  for (const char* architecture : {"", "sm_90a", "compute_80"}) {
    loaded = 0;
    const auto program = loaded_from({.source = "s", .kernels = {"k"}, .architecture = architecture});
    ASSERT_NE(program, nullptr);
    EXPECT_EQ(loaded, 1) << architecture;
    EXPECT_TRUE(program->kernel("k", "jit.launch")) << architecture;
  }
  const auto missing = load({.source = "s", .name = "mine.cu", .kernels = {"other"}}, ptx, h100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "jit.compile: mine.cu: other is no kernel; expected a __global__ function");
}

TEST(a_program, that_is_ptx_is_compiled_by_the_driver_as_its_recipe_says) {
  using options = std::map<CUjit_option, std::uintptr_t>;
  const auto told_of = [](const recipe& r) {
    (void)loaded_from(r);
    return told;
  };
  EXPECT_EQ(told_of({.source = "s"}), options());
  EXPECT_EQ(told_of({.source = "s", .optimisation = 0}), (options{{CU_JIT_OPTIMIZATION_LEVEL, 0}}));
  EXPECT_EQ(told_of({.source = "s", .optimisation = 2, .max_registers = 32}),
            (options{{CU_JIT_OPTIMIZATION_LEVEL, 2}, {CU_JIT_MAX_REGISTERS, 32}}));
  EXPECT_EQ(told_of({.source = "s", .debug_information = true}), (options{{CU_JIT_GENERATE_LINE_INFO, 1}}));
  EXPECT_EQ(told_of({.source = "s", .debug_information = true, .options = {"--device-debug"}}),
            (options{{CU_JIT_GENERATE_DEBUG_INFO, 1}}));
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

TEST(a_program, that_is_machine_code_is_loaded_as_it_is) {
  const recipe r{.source = "__global__ void k() {}", .optimisation = 1, .debug_information = true, .max_registers = 32};
  ASSERT_TRUE(load(r, machine_code_of(r), h100));
  EXPECT_TRUE(told.empty());
}

TEST(a_program, that_has_templates_alone_is_one_without_kernels_though_the_driver_does_not_load_it) {
  const recipe r{.source = "template <class T> __global__ void k(T* x) { *x = 1; }", .name = "mine.cu"};
  const auto nothing_to_run = machine_code_of(r), something = machine_code_of({.source = "__global__ void k() {}"});
  answer = CUDA_ERROR_INVALID_VALUE;
  const auto program = load(r, nothing_to_run, h100);
  const auto broken = load(r, something, h100);
  answer = CUDA_SUCCESS;
  ASSERT_TRUE(program) << program.error().text();
  const auto refused = (*program)->kernel("k", "jit.launch");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "jit.launch: mine.cu has no kernel \"k\"; its kernels: none. Templates are named when it is compiled");
  EXPECT_FALSE((*program)->global("x", "jit.read_global"));
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().text().find("image 'mine.cu' cannot be loaded"), std::string::npos);
}

}  // namespace
}  // namespace troupe::jit
