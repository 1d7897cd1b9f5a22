// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that jit's messages about a source on the host engine use the lines, columns and names that its author wrote.
#include <algorithm>

#include "jit_source.hpp"

namespace troupe::whole {
namespace {

class a_message_of_jit : public testing::Test {
 protected:
  float output_of(const jit::program& p) const {
    auto out = gpu_.alloc<float>(1, {.zeroed = true});
    gpu_.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}});
    const auto got = gpu_.download(out).get();
    EXPECT_OK(got);
    return got ? (*got)[0] : -1;
  }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines());
};

TEST_F(a_message_of_jit, names_an_error_once_in_the_columns_of_the_source) {
  const std::string source =
      "#define TWICE(x) ((x) + (x))\n"
      "__global__ void k(float* out) { __shared__ float s[4]; s[0] = 1; __syncthreads();\n"
      "  out[0] = TWICE(s[0]) + undeclared; }\n";
  const error e = error_of(jit::compile(gpu_, {.source = source, .name = "k.cu"}).ready());
  const std::string text = e.text();
  EXPECT_TRUE(
      is_error(e, reaction::caller_bug, {"[jit] jit.compile #", ": k.cu does not compile:\n", "k.cu:3:26: error:"}));
  EXPECT_EQ(text.find("error:"), text.rfind("error:")) << text;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    EXPECT_LT(end - at, 150u) << text.substr(at, end - at);
  }
}

TEST_F(a_message_of_jit, says_which_names_in_the_recipe_do_not_exist) {
  const std::string source =
      "__device__ float factor;\n__device__ float half_of(float x) { return x / 2; }\n"
      "__global__ void k(float* out) { out[0] = half_of(factor); }\n";
  const auto message = [&](std::vector<std::string> kernels, std::vector<std::string> globals) {
    return error_of(
        jit::compile(gpu_, {.source = source, .name = "k.cu", .kernels = kernels, .globals = globals}).ready());
  };
  EXPECT_TRUE(is_error(message({"g<float>"}, {}), reaction::caller_bug,
                       {"k.cu does not compile:", "there is no kernel \"g<float>\"; kernels: k"}));
  EXPECT_TRUE(is_error(message({"half_of"}, {}), reaction::caller_bug,
                       {"k.cu:2: error: \"half_of\" is a function without __global__; kernels: k"}));
  EXPECT_TRUE(is_error(message({}, {"fctor"}), reaction::caller_bug, {"there is no variable \"fctor\""}));
}

TEST_F(a_message_of_jit, ends_after_twenty_errors) {
  std::string source = "__global__ void k(float* out) {\n";
  for (int i = 0; i < 200; ++i) source += "  out[0] = unknown_" + std::to_string(i) + ";\n";
  const std::string text = error_of(jit::compile(gpu_, {.source = source + "}\n", .name = "k.cu"}).ready()).text();
  EXPECT_NE(text.find("unknown_19"), std::string::npos) << text;
  EXPECT_EQ(text.find("unknown_20"), std::string::npos) << text;
}

TEST_F(a_message_of_jit, is_not_needed_if_headers_for_host_code_are_given_as_texts) {
  const jit::recipe recipe{
      .source = R"(
#include <helper_cuda.h>
#include <cublas_v2.h>
cublasHandle_t handle;
__global__ void k(float* out) { out[0] = __bfloat162float(__float2bfloat16(2.f)); }
int main() { checkCudaErrors(cudaDeviceSynchronize()); return 0; }
)",
      .headers = {{"helper_cuda.h", ""}, {"cublas_v2.h", "#include <cuda_bf16.h>\n"}},
  };
  EXPECT_EQ(output_of(jit::compile(gpu_, recipe)), 2.f);
}

TEST_F(a_message_of_jit, names_an_unmatched_bracket) {
  const error e =
      error_of(jit::compile(gpu_, {.source = "__global__ void k(float* out) {\n  if (out) {\n    out[0] = 1;\n}\n\n"
                                             "__global__ void f(float* out) {}\n",
                                   .name = "k.cu"})
                   .ready());
  EXPECT_TRUE(is_error(e, reaction::caller_bug,
                       {"k.cu does not compile:\nk.cu:1: error: this '{' is not closed before the ", " in line 6"}));
}

TEST_F(a_message_of_jit, names_an_undefined_function_as_the_source_does) {
  const error e =
      error_of(jit::compile(gpu_, {.source = "namespace ns { __device__ float merge(const float*, int); }\n"
                                             "__global__ void k(float* out) { out[0] = ns::merge(out, 1); }\n",
                                   .name = "k.cu"})
                   .ready());
  EXPECT_TRUE(
      is_error(e, reaction::caller_bug,
               {"k.cu does not compile: the function ns::merge(float const*, int) is declared and used, but not "
                "defined: define it in the source"}));
}

TEST_F(a_message_of_jit, names_kernels_that_need_a_gpu_while_the_others_run) {
  const auto p = jit::compile(gpu_, {.source = "__global__ void k(float* out) { out[0] = 3; }\n"
                                               "__global__ void of_gpus(float* out) {\n  asm(\"exit;\");\n}\n",
                                     .name = "k.cu"});
  EXPECT_EQ(output_of(p), 3);
  const auto log = p.log().get();
  ASSERT_OK(log);
  EXPECT_NE(log->find("k.cu:3: note: the kernel that contains this needs a GPU: PTX (asm) runs on GPUs only"),
            log->npos)
      << *log;
  auto out = gpu_.alloc<float>(1, {.zeroed = true});
  EXPECT_TRUE(is_error(
      error_of(gpu_.ask(jit::launch{.kernel = p.kernel("of_gpus"), .grid = 1, .block = 1, .arguments = {inout(out)}})),
      reaction::unsupported,
      {"[kernel] jit.launch of_gpus (k.cu) #",
       ": kernel of_gpus needs a GPU: k.cu:3: PTX (asm) runs on GPUs only; guard it with"}));
  const auto attributes = p.attributes("of_gpus").get();
  ASSERT_OK(attributes);
  EXPECT_TRUE(attributes->execution.starts_with("never: k.cu:3: PTX")) << attributes->execution;
}

}  // namespace
}  // namespace troupe::whole
