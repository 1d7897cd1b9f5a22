// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// bench PLUG-IN [SIZE...]: times products of the kernels made for this GPU alternately with cuBLASLt's first choice, on
// random values in several sets of operands, which exceed the L2 cache.
#include <cublasLt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <troupe/cutlass/vendor/refusals.hpp>
#include <troupe/cutlass/vendor/variants.hpp>
#include <vector>

#include "reference.hpp"

using namespace troupe::cutlass::vendor;
using reference::memory;

namespace {

void must(int code, const char* what) {
  if (code == 0) return;
  std::printf("%s failed with %d\n", what, code);
  std::exit(1);
}
#define MUST(call) must(int(call), #call)

constexpr int sets = 4;
struct operands {
  std::vector<std::unique_ptr<memory>> a, b;
  memory d, bias;
  operands(const kernel_variant& c, long long n) : d(n * n * bits_of(c.d) / 8), bias(n * bits_of(c.d) / 8) {
    for (int i = 0; i < sets; ++i) {
      a.push_back(std::make_unique<memory>(n * n * bits_of(c.a) / 8)),
          b.push_back(std::make_unique<memory>(n * n * bits_of(c.b) / 8));
      reference::fill(*a.back(), c.a, 2 * i), reference::fill(*b.back(), c.b, 2 * i + 1);
    }
    reference::fill(bias, c.d, 99);
  }
};

cudaDataType type_of(const std::string& name) {
  return name == "f16" ? CUDA_R_16F : name == "bf16" ? CUDA_R_16BF : name == "e4m3" ? CUDA_R_8F_E4M3 : CUDA_R_32F;
}

// Computes D = A B with cuBLASLt, as its transpose. Rows of A and D and columns of B are contiguous.
class vendor_product {
 public:
  vendor_product(const kernel_variant& c, long long n, const memory& bias) : workspace_(64 << 20) {
    MUST(cublasLtCreate(&handle_));
    MUST(cublasLtMatmulDescCreate(&what_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    MUST(cublasLtMatmulDescSetAttribute(what_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
    if (std::string(c.a) == "e4m3") {
      const int8_t fast = 1;
      MUST(cublasLtMatmulDescSetAttribute(what_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
    }
    if (c.bias != 0) {
      const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
      void* const at = bias.at();
      MUST(cublasLtMatmulDescSetAttribute(what_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
      MUST(cublasLtMatmulDescSetAttribute(what_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at, sizeof at));
    }
    MUST(cublasLtMatrixLayoutCreate(&factor_, type_of(c.a), n, n, n));
    MUST(cublasLtMatrixLayoutCreate(&result_, type_of(c.d), n, n, n));
    cublasLtMatmulPreference_t preference;
    MUST(cublasLtMatmulPreferenceCreate(&preference));
    const size_t workspace_bytes = workspace_.bytes();
    MUST(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                              sizeof workspace_bytes));
    int found = 0;
    MUST(cublasLtMatmulAlgoGetHeuristic(handle_, what_, factor_, factor_, result_, result_, preference, 1, &choice_,
                                        &found));
    if (found == 0) std::printf("cuBLASLt has no kernel\n"), std::exit(1);
  }
  void run(const operands& o, int set) const {
    const float one = 1, zero = 0;
    MUST(cublasLtMatmul(handle_, what_, &one, o.b[set]->at(), factor_, o.a[set]->at(), factor_, &zero, o.d.at(),
                        result_, o.d.at(), result_, &choice_.algo, workspace_.at(), workspace_.bytes(), nullptr));
  }

 private:
  cublasLtHandle_t handle_;
  cublasLtMatmulDesc_t what_;
  cublasLtMatrixLayout_t factor_, result_;
  cublasLtMatmulHeuristicResult_t choice_{};
  memory workspace_;
};

// Returns the average microseconds of `times` runs.
template <class Run>
double time_of(int times, const Run& run) {
  cudaEvent_t from, to;
  MUST(cudaEventCreate(&from));
  MUST(cudaEventCreate(&to));
  run(0);
  MUST(cudaEventRecord(from));
  for (int i = 0; i < times; ++i) run(i % sets);
  MUST(cudaEventRecord(to));
  MUST(cudaEventSynchronize(to));
  float ms = 0;
  MUST(cudaEventElapsedTime(&ms, from, to));
  MUST(cudaEventDestroy(from));
  MUST(cudaEventDestroy(to));
  return double(ms) * 1e3 / times;
}

void bench(const kernel_variant& c, int n) {
  const operands o(c, n);
  const vendor_product raw(c, n, o.bias);
  launch l{};
  l.m = l.n = l.k = n, l.batch = 1, l.alpha = 1;
  l.a_line = l.b_line = l.c_line = l.d_line = n;
  l.a = o.a[0]->at(), l.b = o.b[0]->at(), l.d = o.d.at();
  if (c.bias != 0) l.bias = o.bias.at();
  if (const auto r = check(c, l); !r) return void(std::printf("%s\n", r.error().text().c_str()));
  if (const auto r = compare_parameters(c); !r) return void(std::printf("%s\n", r.error().text().c_str()));
  const memory workspace(std::size_t(c.workspace_bytes(&l)) + 16);
  const double flop = 2.0 * n * n * n;
  const int times = int(std::max(8.0, 4e13 / flop));
  const int swizzles[] = {1, 2, 4, 8};
  std::vector<double> ours(4), theirs;
  for (int round = 0; round < 3; ++round) {
    theirs.push_back(time_of(times, [&](int set) { raw.run(o, set); }));
    for (int s = 0; s < 4; ++s) {
      const double us = time_of(times, [&](int set) {
        launch one = l;
        one.a = o.a[std::size_t(set)]->at(), one.b = o.b[std::size_t(set)]->at(), one.swizzle = swizzles[s];
        MUST(c.enqueue(&one, workspace.at(), c.workspace_bytes(&one), nullptr));
      });
      ours[std::size_t(s)] = round == 0 ? us : std::min(us, ours[std::size_t(s)]);
    }
  }
  const double raw_us = *std::min_element(theirs.begin(), theirs.end());
  std::printf("%-22s %5d  cuBLASLt %8.1f us %4.0f TFLOP/s |", c.name, n, raw_us, flop / raw_us / 1e6);
  for (int s = 0; s < 4; ++s)
    std::printf(" swizzle %d: %8.1f us %4.0f TFLOP/s %.3f", swizzles[s], ours[std::size_t(s)],
                flop / ours[std::size_t(s)] / 1e6, raw_us / ours[std::size_t(s)]);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::printf("bench PLUG-IN [SIZE...]\n"), 2;
  const auto loaded = kernel_variants::load(words[1]);
  if (!loaded) return std::printf("%s\n", loaded.error().text().c_str()), 1;
  std::printf("%s, CUTLASS %s\n", reference::device_name().c_str(), loaded->contents().cutlass_version);
  std::vector<int> sizes;
  for (int i = 2; i < count; ++i) sizes.push_back(std::atoi(words[i]));
  if (sizes.empty()) sizes = {4096, 8192};
  for (const kernel_variant* c : loaded->all())
    if (c->kind == product && c->capability == reference::capability() && std::string(c->b_layout) == "column")
      for (const int n : sizes) bench(*c, n);
}
