// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles every kernel to machine code for each generation of GPUs by NVRTC, which needs none of them: those built
// into engines, those of tests/kernels, and those that examples, programs and tests pass to jit as text.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/kernel/engine/cuda/container.hpp>

#include "kernel_texts.hpp"

namespace troupe::testing {
namespace {

namespace fs = std::filesystem;

const fs::path root = TROUPE_TEST_ROOT;

enum class fate {
  compiled,
  refused,    // intentionally: the test is about the refusal
  assembled,  // its text is complete only at run time
};

// Information that the texts themselves lack, for those in `file` that contain `piece`.
struct known_text {
  std::string file, piece;
  fate is = fate::compiled;
  jit::recipe more = {};
  std::vector<std::string> only = {};  // only for these architectures; empty for all
  bool seen = false;
};
std::vector<known_text> known_texts() {
  using enum fate;
  const jit::named_texts tail = {
      {"tail.h", "struct tail { __device__ float operator()(float x, int, int) const { return x; } };"}};
  const jit::named_texts square = {{"square.h", "__device__ inline float square(float v) { return v * v; }"}},
                         numbers = {{"the header of the first number.h",
                                     "template <class T> __device__ T one() { return T(1); }"},
                                    {"two.h", "template <class T> __device__ T two() { return T(2); }"}},
                         host_headers = {{"helper_cuda.h", ""}, {"cublas_v2.h", "#include <cuda_bf16.h>\n"}},
                         barrier = {{"BARRIER", "__syncthreads()"}}, classes = {{"CLASSES", "16"}};
  const std::string programs = "tests/programs/";
  const std::string jit_test = "tests/contract/kernels/jit.test.cpp",
                    programs_test = "tests/contract/kernels/jit_programs.test.cpp",
                    messages_test = "tests/contract/kernels/jit_messages.test.cpp";
  return {
      {"apps/demo/kernels.hpp", "bias_softmax", compiled, {.definitions = classes}},
      {"bench/host/jit_tile_gemm.cpp",
       "product",
       compiled,
       {.kernels = {"product<8>", "product<32>"}, .definitions = barrier}},
      {"examples/own_template.cpp", "product", compiled, {.kernels = {"product<8>", "product<32>"}, .headers = tail}},
      {"examples/jit.cpp", "saxpy", compiled, {.kernels = {"saxpy", "sum<float, 256>"}, .headers = square}},
      {.file = "examples/hopper_gemm.cu", .piece = "hopper_gemm", .only = {"sm_90a"}},
      {"examples/linked.cpp", "weigh(", compiled, {.relocatable = true}},
      {"tests/contract/requests/awaited_in_place.test.cpp",
       "a_template_of_ours",
       compiled,
       {.kernels = {"a_template_of_ours<float>", "a_template_of_ours<double>"}}},
      {"libraries/troupe/module/contract/module.contract.cpp",
       "saxpy",
       compiled,
       {.kernels = {"saxpy", "ns::apply<affine, 1>"}}},
      {"tests/contract/faults/recovery_programs.test.cpp", "nowhere_declared", refused},
      {"tests/kernels/gpu/gpu.cpp", "namespace ns", compiled, {.kernels = {"ns::scale<float, 2 * 32>", "add"}}},
      {.file = "tests/kernels/gpu/gpu.cpp", .piece = "cluster_ctarank", .only = {"sm_90a", "sm_100", "sm_120"}},
      {"tests/kernels/gpu/gpu.cpp",
       "extern __device__ float scaled",
       compiled,
       {.kernels = {"k<float>"}, .relocatable = true}},
      {.file = "tests/kernels/gpu/gpu.cpp", .piece = "cp.async.bulk.tensor", .only = {"sm_90a", "sm_100", "sm_120"}},
      {jit_test, "namespace a", compiled, {.kernels = {"a::add<float, 4>", "a::add<double, 5>"}}},
      {programs_test, "template <int N>", compiled, {.kernels = {"k<3>"}}},
      {jit_test, "inner.h", refused},
      {programs_test, "float s[100000]", refused},
      {programs_test, "{ out[0] = v += 1; }"},
      {jit_test, "int x = 0; M6 ", assembled},
      {jit_test, "struct big", assembled},
      {jit_test, "float x = out[0];", assembled},
      {"tests/contract/kernels/jit_fixture.hpp", "{ out[0] = \n", assembled},
      {"tests/adversary/programs/changed_surroundings.cpp", "*x = 7;"},
      {"tests/contract/confinement.test.cpp", "{ out[0] = \n", assembled},
      {"tests/contract/confinement.test.cpp", "VALUE", assembled},
      {"tests/contract/confinement.test.cpp", "int fork();", refused},  // for the host
      {"tests/contract/faults/fault_names.test.cpp", "void scatter\n", assembled},
      {"tests/contract/faults/fault_names.test.cpp", "__global__ void \n", assembled},
      {"tests/contract/faults/fault_names.test.cpp", "careless", assembled},
      {messages_test, "is a function without", assembled},
      {messages_test, "helper_cuda.h", compiled, {.headers = host_headers}},
      {messages_test, "undeclared", refused},
      {messages_test, "if (out) {", refused},
      {messages_test, "merge", refused},
      {messages_test, "__global__ void k(float* out) {\n", assembled},
      {programs + "kernel_errors.cpp", "x[threadIdx.x] = 0;", refused},
      {programs + "module_image.cpp", "smooth", compiled, {.kernels = {"filters::smooth<4>"}}},
      {programs + "recipes.cpp",
       "affine",
       compiled,
       {.kernels = {"affine<float, 7>"}, .headers = numbers, .definitions = {{"FACTOR", "3"}}}},
  };
}

std::vector<fs::path> files_with_kernels() {
  std::vector<fs::path> out;
  const fs::path translated = root / "tests/kernels", own = root / "tests/nvrtc";
  for (const char* folder : {"apps", "bench", "examples", "libraries", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path &file = entry.path(), of = file.parent_path();
      // Engines' own kernels are compiled by other tests.
      if (folder == std::string_view("libraries") && of.filename() != "contract") continue;
      // Sources that are only translated for the host may be intentionally wrong, line by line.
      if (of == translated || of == own) continue;
      if (file.extension() == ".cpp" || file.extension() == ".hpp" || file.extension() == ".cu") out.push_back(file);
    }
  std::sort(out.begin(), out.end());
  return out;
}

// Templates are not compiled before an instance is named.
bool has_kernel_template(const std::string& text) {
  for (std::size_t at = text.find("template"); at != text.npos; at = text.find("template", at + 1))
    if (text.substr(at, text.find_first_of("{;", at) - at).find("__global__") != text.npos) return true;
  return false;
}

class nvrtc_compiler : public ::testing::TestWithParam<const char*> {
 protected:
  jit::compiled compiled(jit::recipe r) const {
    r.architecture = GetParam();
    const auto c = jit::compiler_for(with_, r, 0);
    if (!c) return {.failed = c.error()};
    return jit::compile(with_, *c, r, INT64_MAX);
  }
  void expect_machine_code(const jit::recipe& r, const std::string& where) const {
    const jit::compiled c = compiled(r);
    ASSERT_FALSE(c.failed) << where << ": " << c.failed->text() << "\n" << c.log;
    const auto looked = kernel::inspect_image(c.image);
    EXPECT_EQ(looked.is, kernel::container::machine_code) << where;
    EXPECT_EQ(looked.wrong, "") << where;
  }

  const jit::nvrtc with_ = jit::nvrtc::find().value();
};

TEST_P(nvrtc_compiler, compiles_the_kernels_built_into_engines) {
  const std::string all = TROUPE_TEST_BUILT_IN_KERNELS;
  std::size_t count = 0;
  for (std::size_t at = 0; at < all.size(); ++count) {
    const std::size_t end = std::min(all.find('|', at), all.size());
    const fs::path file = all.substr(at, end - at);
    expect_machine_code({.source = text_of(file), .name = file.filename(), .include_paths = {file.parent_path()}},
                        file);
    at = end + 1;
  }
  EXPECT_GE(count, 2u) << "blas and graph have kernels of their own";
}

TEST_P(nvrtc_compiler, compiles_the_kernels_of_the_tests) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(root / "tests/kernels/cuda")) {
    if (entry.path().extension() != ".cu") continue;
    ++count;
    expect_machine_code({.source = text_of(entry.path()), .name = entry.path().filename()}, entry.path());
  }
  EXPECT_GE(count, 15u);
}

TEST_P(nvrtc_compiler, compiles_kernels_that_use_the_headers_of_c_and_cpp) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(root / "libraries/troupe/jit/contract/headers")) {
    ++count;
    expect_machine_code({.source = text_of(entry.path()), .name = entry.path().filename()}, entry.path());
  }
  EXPECT_EQ(count, 2u);
}

TEST_P(nvrtc_compiler, compiles_every_source_text_given_to_jit) {
  std::vector<known_text> all = known_texts();
  std::size_t count = 0;
  for (const fs::path& path : files_with_kernels()) {
    const std::string file = path.lexically_relative(root);
    for (const kernel_text& t : kernel_texts_of(text_of(path))) {
      const std::string where = file + ":" + std::to_string(t.line);
      const auto known = std::find_if(all.begin(), all.end(), [&](const known_text& k) {
        return k.file == file && (t.text + "\n").find(k.piece) != std::string::npos;
      });
      EXPECT_TRUE(t.whole || known != all.end()) << where << " is joined with other text; list it in this test";
      jit::recipe r;
      fate is = t.whole ? fate::compiled : fate::assembled;
      if (known != all.end()) {
        known->seen = true;
        r = known->more;
        is = known->is;
        const auto& only = known->only;
        if (!only.empty() && std::find(only.begin(), only.end(), GetParam()) == only.end()) continue;
      }
      if (is == fate::assembled) continue;
      ++count;
      r.source = t.text;
      if (is == fate::refused) {
        EXPECT_TRUE(compiled(r).failed) << where << " is listed as wrong, but compiles";
        continue;
      }
      EXPECT_TRUE(!r.kernels.empty() || !has_kernel_template(t.text))
          << where << " has a kernel template; list its used instances in this test";
      expect_machine_code(r, where);
    }
  }
  EXPECT_GE(count, 15u);
  for (const known_text& k : all) EXPECT_TRUE(k.seen) << k.file << " has no more text with \"" << k.piece << '"';
}

#ifdef TROUPE_TEST_PTXAS
// PTX is compiled by drivers, and here by the toolkit's ptxas, which contains the same compiler.
TEST_P(nvrtc_compiler, leaves_kernels_written_in_ptx_to_ptxas) {
  const fs::path written = fs::temp_directory_path() / ("troupe-ptx-" + std::to_string(::getpid()));
  std::size_t count = 0;
  for (const char* file : {"libraries/troupe/faults/cuda/engine.cpp", "bench/raw/cuda.cpp"})
    for (const kernel_text& t : kernel_texts_of(text_of(root / file), ".visible .entry")) {
      ++count;
      std::ofstream(written) << t.text;
      const std::string command =
          std::string(TROUPE_TEST_PTXAS " -arch=") + GetParam() + " -o /dev/null " + written.string();
      EXPECT_EQ(std::system(command.c_str()), 0) << file << ":" << t.line << ", by " << command;
    }
  fs::remove(written);
  EXPECT_EQ(count, 3u) << "the faults, the assertion and the wild pointer of the benchmarks";
}
#endif

INSTANTIATE_TEST_SUITE_P(, nvrtc_compiler, ::testing::Values("sm_80", "sm_90a", "sm_100", "sm_120"),
                         [](const auto& i) { return std::string(i.param); });

TEST(kernel_texts, are_found_in_all_kinds_of_strings_and_joined) {
  const auto found = kernel_texts_of(
      "// \"__global__\"\n"
      "auto a = R\"x(__global__ void a() {)\"})x\";\n"
      "auto b = \"__global__ void b() {\\n\" // with a comment\n  \"}\\n\";\n"
      "auto c = \"__global__ void c(\" + type + \") {}\";\n"
      "auto d = \"none\"; int __global__;\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "__global__ void a() {)\"}");
  EXPECT_TRUE(found[0].whole);
  EXPECT_EQ(found[1].text, "__global__ void b() {\n}\n");
  EXPECT_EQ(found[1].line, 3u);
  EXPECT_FALSE(found[2].whole);
}

}  // namespace
}  // namespace troupe::testing
