// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of sources that also contain host code, as files for nvcc do. They need no GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::jit {
namespace {

namespace fs = std::filesystem;

compiled compile_for(recipe r) {
  const auto with = nvrtc::find();
  EXPECT_TRUE(with);
  const auto c = compiler_for(*with, r, 80);
  if (!c) return {.failed = c.error()};
  return compile(*with, *c, r, INT64_MAX);
}
std::string why(const compiled& c) { return c.failed ? c.failed->text() : ""; }

bool has(const std::string& text, const char* what) { return text.find(what) != text.npos; }

// Returns the PTX of a recipe, or the error's text.
std::string ptx(recipe r) {
  r.architecture = "compute_80";
  const compiled c = compile_for(std::move(r));
  return c.failed ? why(c) : c.image;
}

constexpr const char* launcher = R"(
void launch(float* x, cudaStream_t s) {
  k<<<1, 32, 0, s>>>(x);
  if (cudaGetLastError() != cudaSuccess) throw 1;
}
int main(int argc, char** argv) {
  float* x;
  cudaMalloc(&x, 128);
  std::vector<float> v(32);
  launch(x, 0);
  return cudaDeviceSynchronize();
}
)";

TEST(host_code, is_left_out_if_nvrtc_refuses_it) {
  const std::string source = std::string(
                                 "#include <cuda_runtime.h>\n#include <vector>\n#include <iostream>\n"
                                 "struct timer { cudaEvent_t begin; timer() { cudaEventCreate(&begin); } };\n"
                                 "static float twice(float x) { return 2 * x; }\n"
                                 "__global__ void k(float* x) { x[threadIdx.x] = twice(x[0]); }\n"
                                 "template <class T> __global__ void t(T* x) { *x = 1; }\n") +
                             launcher;
  const std::string made = ptx({.source = source, .kernels = {"t<int>"}});
  EXPECT_TRUE(has(made, ".entry _Z1kPf(")) << made;
  EXPECT_TRUE(has(made, ".entry _Z1tIiEvPT_(")) << made;
  EXPECT_FALSE(has(made, "main")) << made;
}

TEST(host_code, is_compiled_for_the_gpu_if_nvrtc_accepts_it) {
  const std::string made = ptx(
      {.source = "int counter = 3;\nint unused(int x) { return x; }\n__global__ void k() {}\n", .relocatable = true});
  EXPECT_TRUE(has(made, "counter")) << made;
  EXPECT_TRUE(has(made, "_Z6unusedi")) << made;
}

TEST(host_code, is_kept_if_a_macro_may_have_made_it_a_kernel) {
  const recipe r{.source = std::string("#include \"mine.h\"\n#define ALSO extern \"C\" QUALIFIER\n"
                                       "ALSO void second(float* x) { *x = helper(2); }\n"
                                       "#define MAKE(name) __global__ void name(float* x) { \\\n  *x = other(3); }\n"
                                       "float other(float x) { return x; }\n"
                                       "MAKE(third)\n"
                                       "IN_FOLDER void fourth(float* x) { *x = OPTION(4); }\n"
                                       "__global__ void k(float* x) { *x = FUNCTION(1); }\n") +
                           launcher,
                 .headers = {{"mine.h",
                              "#include <there.h>\n#define QUALIFIER __global__\n"
                              "float helper(float x) { return x; }\n#define FUNCTION(x) in_main(x)\n"}},
                 .definitions = {{"OPTION(x)", "helper(x)"}}};
  const fs::path folder = fs::temp_directory_path() / ("troupe-host-code-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "there.h") << "#define IN_FOLDER __global__\n";
  recipe with_folder = r;
  with_folder.source = "float in_main(float x) { return x; }\n" + r.source;
  with_folder.include_paths = {folder.string()};
  const std::string made = ptx(with_folder);
  for (const char* entry : {".entry second(", ".entry _Z5thirdPf(", ".entry _Z6fourthPf(", ".entry _Z1kPf("})
    EXPECT_TRUE(has(made, entry)) << entry << "\n" << made;
  fs::remove_all(folder);
}

TEST(host_code, does_not_hide_errors_in_kernels) {
  const compiled c =
      compile_for({.source = std::string("__global__ void k(float* x) {\n  x[0] = undeclared;\n}\n") + launcher,
                   .name = "mine.cu"});
  EXPECT_EQ(why(c), "jit.compile: mine.cu does not compile: mine.cu(2): error: identifier \"undeclared\" is undefined");
  EXPECT_FALSE(has(c.log, "cudaMalloc")) << c.log;
  const compiled name = compile_for(
      {.source = std::string("__global__ void k(float*) {}\n") + launcher, .name = "mine.cu", .kernels = {"other"}});
  EXPECT_TRUE(why(name).starts_with("jit.compile: mine.cu does not compile: mine.cu: error: kernels has \"other\""))
      << why(name);
}

TEST(host_code, is_refused_with_its_line_if_device_code_needs_it) {
  const compiled calls =
      compile_for({.source = std::string("__global__ void k(float* x);\nvoid launch(float*, cudaStream_t);\n"
                                         "__global__ void calls(float* x) { launch(x, 0); }\n") +
                             launcher,
                   .name = "mine.cu"});
  EXPECT_TRUE(has(why(calls), "mine.cu(7): error: identifier \"cudaGetLastError\" is undefined")) << why(calls);
  // The macro builds the name, so host code that is needed seems not to be; the error must be that of the whole source.
  const compiled glued = compile_for({.source = std::string("float of_2(float x) { return x; }\n#define OF(n) of_##n\n"
                                                            "__global__ void k(float* x) { *x = OF(2)(1); }\n") +
                                                launcher,
                                      .name = "mine.cu"});
  EXPECT_TRUE(has(why(glued), "mine.cu(7): error: identifier \"cudaGetLastError\" is undefined")) << why(glued);
  EXPECT_FALSE(has(glued.log, "of_2")) << glued.log;
}

TEST(host_code, is_left_out_of_units_that_define_functions_for_others) {
  const std::string library = std::string(
                                  "float shared(float x) { return 2 * x; }\n"
                                  "__global__ void k(float* x) { *x = 1; }\n") +
                              launcher;
  const compiled c = compile_for(
      {.source = "extern __device__ float shared(float);\n__global__ void first(float* x) { *x = shared(*x); }\n",
       .units = {{.name = "library.cu", .source = library}}});
  EXPECT_FALSE(c.failed) << why(c) << c.log;
}

}  // namespace
}  // namespace troupe::jit
