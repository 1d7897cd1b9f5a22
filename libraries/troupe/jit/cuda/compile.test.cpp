// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of compiling recipes with NVRTC. They need no GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <troupe/base/clock.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>
#include <troupe/kernel/engine/cuda/demangle.hpp>
#include <troupe/kernel/engine/cuda/names.hpp>

namespace troupe::jit {
namespace {

namespace fs = std::filesystem;

compiled compile_for(const recipe& r, capability gpu = 80, std::int64_t deadline_ns = INT64_MAX) {
  const auto with = nvrtc::find();
  EXPECT_TRUE(with);
  const auto c = compiler_for(*with, r, gpu);
  if (!c) return {.failed = c.error()};
  return compile(*with, *c, r, deadline_ns);
}

std::string why(const compiled& c) { return c.failed ? c.failed->text() : ""; }

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(nvrtc_image, ends_with_the_names_of_the_sources_kernels_and_globals) {
  const compiled c =
      compile_for({.source = "namespace ns { __constant__ float c[4];\n"
                             "template <class T, int N> __global__ void reduce(const T* in, T* out, int n)"
                             " { out[0] = in[n % N] * T(c[0]); } }\n"
                             "__global__ void plain(float) {}\n",
                   .kernels = {"ns::reduce<float, 1 + 3>", "plain"},
                   .globals = {"ns::c"}});
  ASSERT_FALSE(c.failed) << why(c) << c.log;
  const kernel::image_names names = kernel::names_in(c.image);
  ASSERT_EQ(names.kernels.size(), 2u);
  EXPECT_EQ(names.kernels[0].first, "ns::reduce<float, 1 + 3>");
  const auto k = kernel::demangle_kernel(names.kernels[0].second);
  ASSERT_TRUE(k) << names.kernels[0].second;
  EXPECT_EQ(k->parameters.size(), 3u);
  EXPECT_EQ(k->parameters[0].type, "const float*");
  ASSERT_EQ(names.globals.size(), 1u);
  EXPECT_EQ(names.globals[0].second, kernel::mangle_variable("ns::c"));
}

TEST(nvrtc_image, is_ptx_if_the_recipe_asks_for_ptx) {
  const compiled c = compile_for({.source = "__global__ void k() {}", .architecture = "compute_90"});
  ASSERT_FALSE(c.failed) << why(c);
  EXPECT_EQ(kernel::inspect_image(c.image).is, kernel::container::ptx);
  EXPECT_NE(c.image.find(".target sm_90"), std::string::npos);
}

// Checks each field by its effect on the PTX.
TEST(nvrtc_compile, every_field_of_the_recipe_affects_the_code) {
  const recipe base{
      .source =
          "#include \"mine.h\"\n__global__ void k(float* y, float a, float b) { y[0] = a * b + y[0] / b + MINE; }",
      .headers = {{"mine.h", "#define MINE (THEIRS + __cplusplus / 100 % 100)"}},
      .definitions = {{"THEIRS", "1000"}},
      .architecture = "compute_80"};
  const auto ptx = [](const recipe& r) {
    const compiled c = compile_for(r);
    EXPECT_FALSE(c.failed) << why(c) << c.log;
    return c.image;
  };
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != text.npos; };
  const std::string plain = ptx(base);
  EXPECT_TRUE(has(plain, "fma.rn.f32")) << plain;
  EXPECT_TRUE(has(plain, "div.rn.f32"));
  recipe r = base;
  r.fuse_multiply_add = false;
  EXPECT_FALSE(has(ptx(r), "fma.rn.f32"));
  r.fast_math = true;
  EXPECT_TRUE(has(ptx(r), "div.approx.ftz.f32"));
  EXPECT_FALSE(has(ptx(r), "fma.rn")) << "the field wins over what fast_math implies";
  r = base;
  r.flush_to_zero = true;
  EXPECT_TRUE(has(ptx(r), "fma.rn.ftz.f32"));
  r = base;
  r.debug_information = true;
  EXPECT_TRUE(has(ptx(r), ".loc"));
  EXPECT_FALSE(has(plain, ".loc"));
  r = base;
  r.standard = 17;
  EXPECT_NE(ptx(r), plain);
  r = base;
  r.definitions = {{"THEIRS", "2000"}};
  EXPECT_NE(ptx(r), plain);
  r = base;
  r.options = {"--prec-div=false"};
  EXPECT_FALSE(has(ptx(r), "div.rn.f32"));
  r = base;
  r.architecture = "sm_80";
  const std::string optimised = ptx(r);
  r.optimisation = 0;
  EXPECT_NE(ptx(r), optimised);
  r.optimisation = 3;
  r.max_registers = 16;
  EXPECT_NE(ptx(r), optimised);
}

TEST(nvrtc_compile, finds_cudas_headers_and_the_users_folders) {
  const fs::path folder = fs::temp_directory_path() / ("troupe-nvrtc-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "there.h") << "#define THERE 1\n";
  fs::last_write_time(folder / "there.h", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string source =
      "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include \"there.h\"\n"
      "__global__ void k(__half* x) { x[0] = __half(THERE); }";
  const compiled c = compile_for({.source = source, .include_paths = {folder.string()}});
  EXPECT_FALSE(c.failed) << why(c) << c.log;
  ASSERT_EQ(c.made_from.size(), 3u);
  EXPECT_EQ(c.made_from[2].path, (folder / "there.h").string());
  EXPECT_EQ(c.made_from[2].is, plan::stamp::kind::file);
  fs::remove_all(folder);
  const compiled without = compile_for({.source = source});
  ASSERT_TRUE(without.failed);
  EXPECT_NE(why(without).find("TROUPE_CUDA_INCLUDE"), std::string::npos) << why(without);
}

TEST(nvrtc_compile, does_not_search_the_workers_current_folder_for_headers) {
  const fs::path folder = fs::temp_directory_path() / ("troupe-nvrtc-here-" + std::to_string(::getpid())),
                 before = fs::current_path();
  fs::create_directories(folder);
  std::ofstream(folder / "there.h") << "\n";
  fs::current_path(folder);
  const compiled c = compile_for({.source = "#include \"there.h\"\n__global__ void k() {}"});
  fs::current_path(before);
  fs::remove_all(folder);
  ASSERT_TRUE(c.failed);
  EXPECT_NE(why(c).find("program.cu(1): "), std::string::npos) << why(c);
  EXPECT_EQ(why(c).find("troupe-source"), std::string::npos) << why(c);
}

TEST(nvrtc_compile, marks_reproducible_results_as_cacheable) {
  EXPECT_TRUE(compile_for({.source = "__global__ void k() {}"}).lasting);
  EXPECT_FALSE(compile_for({.source = "__global__ void k() {} // __DATE__"}).lasting);
  const compiled unknown =
      compile_for({.source = "#define H \"h\"\n#include H\n__global__ void k() {}", .headers = {{"h", "\n"}}});
  EXPECT_FALSE(unknown.failed) << why(unknown);
  EXPECT_FALSE(unknown.lasting);
  EXPECT_NE(unknown.log.find("note: cache: not kept: it is unknown which files #include H reads"), std::string::npos)
      << unknown.log;
}

TEST(nvrtc_compile, reports_errors_in_the_source) {
  const compiled c = compile_for({.source = "__global__ void k() {\n  nowhere_declared();\n}", .name = "mine.cu"});
  ASSERT_TRUE(c.failed);
  EXPECT_EQ(c.failed->reaction(), reaction::caller_bug);
  EXPECT_NE(why(c).find("jit.compile: mine.cu does not compile: mine.cu(2): error:"), std::string::npos) << why(c);
  EXPECT_NE(c.log.find("nowhere_declared"), std::string::npos);
}

TEST(nvrtc_compile, reports_missing_kernels_and_globals_of_the_recipe) {
  const std::string source = "__global__ void k() {}\n__device__ void f() {}\n", name = "mine.cu";
  const compiled kernel = compile_for({.source = source, .name = name, .kernels = {"k", "other"}}),
                 function = compile_for({.source = source, .name = name, .kernels = {"k", "f"}}),
                 global = compile_for({.source = source, .name = name, .globals = {"params"}});
  const std::string expected_kernel =
      "; expected a __global__ function of the source, as spelled in C++; for a template, an instance: "
      "\"scale<float>\"";
  EXPECT_EQ(why(kernel),
            "jit.compile: mine.cu does not compile: mine.cu: error: kernels has \"other\": identifier \"other\" is "
            "undefined" +
                expected_kernel);
  EXPECT_EQ(why(function),
            "jit.compile: mine.cu does not compile: mine.cu: error: kernels has \"f\": Name expression cannot form "
            "address of a non-__global__ function" +
                expected_kernel);
  EXPECT_EQ(why(global),
            "jit.compile: mine.cu does not compile: mine.cu: error: globals has \"params\": identifier \"params\" is "
            "undefined; expected a __device__ or __constant__ variable of the source, as spelled in C++");
  for (const compiled* c : {&kernel, &function, &global}) {
    EXPECT_EQ(c->failed->reaction(), reaction::caller_bug);
    EXPECT_EQ(c->log.find("__nv_name_map"), std::string::npos) << c->log;
  }
}

TEST(nvrtc_compile, compiles_unannotated_functions_and_variables_for_the_gpu) {
  const compiled c = compile_for(
      {.source = "int counter = 3; const float table[2] = {1, 2};\nconstexpr int twice(int x) { return 2 * x; }\n"
                 "struct box { int x; int get() const { return x + counter++; } };\n__host__ int of_host(int x) { "
                 "return x; }\n"
                 "template <class F> int call(F f, int x) { return f(x); }\n"
                 "__global__ void k(int* x) { *x = twice(*x) + box{*x}.get() + table[*x] + call([](int y) { return "
                 "of_host(y); }, 1); }\n"
                 "int main() { float* p = (float*)malloc(4); if (p == NULL) exit(EXIT_FAILURE); free(p); return 0; }\n",
       .globals = {"counter"}});
  EXPECT_FALSE(c.failed) << why(c) << c.log;
}

TEST(nvrtc_compile, declares_what_nvcc_includes_by_default_unless_the_source_does) {
  for (const char* use :
       {"x[0] = INFINITY;", "x[0] = M_PI * sqrt(3);", "uint n = 3; x[0] = n;", "int64_t n = 3; x[0] = n;",
        "x[0] = std::pow(2, 3);", "x[0] = INT_MAX;", "x[0] = pow(x[1], 2.0);", "uint8_t b = 3; x[0] = b;"}) {
    const compiled c = compile_for({.source = std::string("__global__ void k(float* x) { ") + use + " }"});
    EXPECT_FALSE(c.failed) << use << ": " << why(c);
    EXPECT_EQ(c.log, "") << use;
  }
  for (const char* own : {"typedef long int64_t;", "typedef unsigned char uint;", "#define INFINITY 7\n#define M_PI 3",
                          "__device__ int strlen(const char*) { return 3; }", "struct timeval { int x; };",
                          "__device__ float lerp(float a, float b, float t) { return a + t * (b - a); }"}) {
    const compiled c = compile_for({.source = std::string(own) + "\n__global__ void k(float* x) { x[0] = 1; }"});
    EXPECT_FALSE(c.failed) << own << ": " << why(c);
  }
}

TEST(nvrtc_compile, finds_c_and_cpp_headers_unless_the_user_has_one_of_that_name) {
  const fs::path folder = fs::temp_directory_path() / ("troupe-nvrtc-own-" + std::to_string(::getpid()));
  fs::create_directories(folder / "deep");
  std::ofstream(folder / "limits.h") << "#define INT_MAX 11\n";
  std::ofstream(folder / "deep" / "stdio.h") << "#define BESIDE 12\n";
  std::ofstream(folder / "deep" / "user.h") << "#include \"stdio.h\"\n";
  const recipe mine{.source =
                        "#include <limits.h>\n#include \"deep/user.h\"\n#include <math.h>\n#include <algorithm>\n"
                        "static_assert(INT_MAX == 11 && BESIDE == 12 && FROM_MEMORY == 13 && std::min(1, 2) == 1);\n"
                        "__global__ void k() {}",
                    .headers = {{"math.h", "#define FROM_MEMORY 13\n"}},
                    .include_paths = {folder.string()}};
  const compiled c = compile_for(mine);
  EXPECT_FALSE(c.failed) << why(c) << c.log;
  fs::remove_all(folder);
}

TEST(nvrtc_compile, reports_where_the_source_uses_a_host_only_class) {
  const compiled c =
      compile_for({.source = "#include <vector>\n#include <iostream>\n"
                             "__device__ float f(int n) {\n  std::vector<float> v(n);\n  return v[0];\n}\n"
                             "__global__ void k(float* x) { *x = f(1); }\n"});
  EXPECT_TRUE(why(c).starts_with("jit.compile: program.cu does not compile: troupe_device/host_classes.h(")) << why(c);
  EXPECT_TRUE(
      why(c).ends_with("\"std::vector is host-only; leave code that uses it out of the source, or between #ifndef "
                       "__CUDACC_RTC__ and #endif\"; used at line 4 of program.cu"))
      << why(c);
  const compiled unused = compile_for(
      {.source = "#include <vector>\n#include <iostream>\n#include <thread>\nvoid f(const std::vector<int>&);\n"
                 "__global__ void k(float* x) { *x = 1; }\n"});
  EXPECT_FALSE(unused.failed) << why(unused) << unused.log;
}

TEST(nvrtc_compile, defines_the_version_of_cuda) {
  const compiled c =
      compile_for({.source = "static_assert(CUDA_VERSION >= 12080 && CUDART_VERSION == CUDA_VERSION && "
                             "__CUDACC_VER_MAJOR__ == CUDA_VERSION / 1000);\n#include <cuda.h>\n#include "
                             "<cuda_runtime.h>\n__global__ void k(__grid_constant__ const CUtensorMap m) {}"});
  EXPECT_FALSE(c.failed) << why(c);
  EXPECT_EQ(c.log, "");
  const compiled own = compile_for(
      {.source = "static_assert(CUDA_VERSION == 5); __global__ void k() {}", .definitions = {{"CUDA_VERSION", "5"}}});
  EXPECT_FALSE(own.failed) << why(own);
}

TEST(nvrtc_compile, refuses_fields_that_it_does_not_support) {
  const std::string source = "__global__ void k() {}";
  const compiled program = compile_for({.source = source, .compiler = "/usr/bin/c++"});
  ASSERT_TRUE(program.failed);
  EXPECT_EQ(program.failed->reaction(), reaction::unsupported);
  EXPECT_NE(why(program).find("compiler is \"/usr/bin/c++\"; a GPU's compiler is NVRTC"), std::string::npos);
  const compiled standard = compile_for({.source = source, .standard = 23});
  ASSERT_TRUE(standard.failed);
  EXPECT_EQ(standard.failed->reaction(), reaction::unsupported) << why(standard);
  const compiled option = compile_for({.source = source, .options = {"--Ofast-compile=slowly"}});
  ASSERT_TRUE(option.failed);
  EXPECT_EQ(option.failed->reaction(), reaction::unsupported);
  EXPECT_NE(why(option).find("does not know an option"), std::string::npos) << why(option);
  EXPECT_NE(why(option).find("--Ofast-compile"), std::string::npos) << why(option);
  const compiled ptx = compile_for(
      {.source = source, .architecture = "compute_90", .options = {"--brief-diagnostics=true", "--ptxas-options=-v"}});
  ASSERT_TRUE(ptx.failed);
  EXPECT_EQ(ptx.failed->reaction(), reaction::unsupported);
  EXPECT_EQ(why(ptx),
            "jit.compile: options[1] is \"--ptxas-options=-v\", which applies to machine code; this is compiled for "
            "\"compute_90\", PTX, and the driver has no such option: leave it out");
}

// NVRTC would obey most of these options, but the keys of the cache and the linker would not take them into account.
TEST(nvrtc_compile, gets_no_option_that_names_a_file_or_duplicates_a_field) {
  const fs::path folder = fs::temp_directory_path() / ("troupe-nvrtc-options-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "there.h") << "#define THERE 1\n";
  std::ofstream(folder / "ptxas") << "-O0\n";
  const std::string in = folder.string(), before = "jit.compile: options[1] is \"",
                    after = ", which is not passed to NVRTC; ";
  for (const auto& [option, instead] :
       {std::pair("-I" + in, "use recipe::include_paths"),
        {"-include=" + in + "/there.h", "write #include into the source"},
        {"-time=" + in + "/times", "docs/jit.md lists those that can be given"},
        {"-fdevice-time-trace=" + in + "/trace", "docs/jit.md lists those that can be given"},
        {"-pch-dir=" + in, "docs/jit.md lists those that can be given"},
        {"-std=c++17", "use recipe::standard"},
        {"-ftz=true", "use recipe::flush_to_zero"},
        {"-prec-div=false", "write --prec-div=false"},
        {"-Wno-unused", "docs/jit.md lists those that can be given"},
        {"--ptxas-options=--options-file=" + in + "/ptxas",
         "pass options to ptxas directly, each with a dash, and not in a file"}}) {
    const compiled c = compile_for({.source = "__global__ void k() {}", .options = {"--restrict", option}});
    ASSERT_TRUE(c.failed) << option;
    EXPECT_EQ(c.failed->reaction(), reaction::unsupported);
    EXPECT_TRUE(why(c).starts_with(before + option.substr(0, 8))) << why(c);
    EXPECT_TRUE(why(c).ends_with(after + instead)) << why(c);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "NVRTC has written no file";
  fs::remove_all(folder);
}

TEST(nvrtc_compile, is_stopped_at_the_deadline) {
  recipe r{.source = text_of(fs::path(TROUPE_TEST_CUDA_SOURCES) / "reduce.cu"), .timeout = time_span::of_seconds(1)};
  const compiled c = compile_for(r, 80, now_ns() - 1);
  ASSERT_TRUE(c.failed);
  EXPECT_TRUE(c.was_stopped);
  EXPECT_FALSE(c.lasting);
  EXPECT_NE(why(c).find("NVRTC had not ended after 1 s and was stopped; raise the recipe's timeout"), std::string::npos)
      << why(c);
}

TEST(worked_hopper_kernel, keeps_its_sums_in_registers_and_does_not_serialize_its_products) {
  const char* const source =
#include "examples/hopper_gemm.cu"
      ;
  const compiled c = compile_for({.source = source, .name = "hopper_gemm.cu", .options = {"--ptxas-options=-v"}}, 90);
  ASSERT_FALSE(c.failed) << why(c) << c.log;
  EXPECT_NE(c.log.find("0 bytes stack frame, 0 bytes spill stores"), std::string::npos) << c.log;
  EXPECT_EQ(c.log.find("serialized"), std::string::npos) << c.log;
  EXPECT_EQ(c.log.find("warning"), std::string::npos) << c.log;
}

TEST(kernel_with_tensor_maps, has_struct_parameters_passed_by_value) {
  const compiled c = compile_for(
      {.source =
           "struct alignas(128) CUtensorMap { unsigned long long opaque[16]; };\n"
           "__global__ void k(int n, const __grid_constant__ CUtensorMap m, float* x) { if (n) x[0] = m.opaque[0]; }",
       .kernels = {"k"}},
      90);
  ASSERT_FALSE(c.failed) << why(c);
  const auto k = kernel::demangle_kernel(kernel::names_in(c.image).kernels.at(0).second);
  ASSERT_TRUE(k && k->parameters.size() == 3);
  EXPECT_EQ(k->parameters[1].passing, kernel::passing::value);
  EXPECT_EQ(k->parameters[1].element, dtype{});
  EXPECT_EQ(k->parameters[1].type, "CUtensorMap");
}

}  // namespace
}  // namespace troupe::jit
