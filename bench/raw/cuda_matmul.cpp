// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>

#include <algorithm>
#include <bench/raw/cuda_calls.hpp>
#include <bench/raw/cuda_libraries.hpp>
#include <bit>

namespace troupe::bench {

// Not in the unnamed namespace, where it would hide the overload for the driver.
static void must(cublasStatus_t s, const char* call) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", std::string("raw ") + call + ": " + ::cublasLtGetStatusName(s)));
}

namespace {

struct kind {
  cudaDataType factor, result;
  cublasComputeType_t compute;
  cudaDataType scale;
  std::size_t factor_bytes, result_bytes;
};
kind kind_of(raw_matmul_type t) {
  switch (t) {
    case raw_matmul_type::bf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2};
    case raw_matmul_type::f16:
      return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2};
    case raw_matmul_type::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 4, 4};
    case raw_matmul_type::f64:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, 8, 8};
    case raw_matmul_type::fp8:
      break;
  }
  return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1, 2};
}

struct closes_library {
  using pointer = cublasLtHandle_t;
  void operator()(cublasLtHandle_t h) const noexcept { (void)::cublasLtDestroy(h); }
};

class matmuls final : public raw_matmuls {
 public:
  matmuls(const raw_matmul_problem& p, std::span<const std::byte> a, std::span<const std::byte> b,
          std::span<const std::byte> bias)
      : kind_(kind_of(p.type)), stream_(make_stream()), workspace_(make_memory(workspace_bytes)) {
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
    bytes_a_ = m * k * kind_.factor_bytes, bytes_b_ = n * k * kind_.factor_bytes, bytes_d_ = m * n * kind_.result_bytes;
    const auto count = static_cast<std::size_t>(p.count);
    a_ = repeated(a, bytes_a_ * count), b_ = repeated(b, bytes_b_ * count), d_ = make_memory(bytes_d_ * count);
    problem_ = p;
    if (p.epilogue != raw_matmul_epilogue::none) bias_ = repeated(bias, bias.size());
  }
  // The first product opens the library, and searches.
  void multiply(int which) override {
    if (library_ == nullptr) open_library();
    const auto at = [which](const device_memory& m, std::size_t bytes) {
      return reinterpret_cast<void*>(m.get() + bytes * static_cast<std::size_t>(which));
    };
    const float one = 1, zero = 0;
    const double one_double = 1, zero_double = 0;
    const bool doubles = kind_.scale == CUDA_R_64F;
    const void *const alpha = doubles ? static_cast<const void*>(&one_double) : &one,
                      *const beta = doubles ? static_cast<const void*>(&zero_double) : &zero;
    void* const d = at(d_, bytes_d_);
    must(::cublasLtMatmul(library_.get(), &product_, alpha, at(b_, bytes_b_), &layout_b_, at(a_, bytes_a_), &layout_a_,
                          beta, d, &layout_d_, d, &layout_d_, &algorithm_, reinterpret_cast<void*>(workspace_.get()),
                          workspace_bytes, stream_.get()),
         "cublasLtMatmul");
  }
  std::array<std::uint64_t, 8> algorithm() const override {
    return std::bit_cast<std::array<std::uint64_t, 8>>(algorithm_);
  }
  void poll_until_done() override { word_.poll_until_done(stream_); }
  void synchronize() override { wait_for(stream_); }
  void download(int which, std::span<std::byte> d) override {
    synchronize();
    must(::cuMemcpyDtoH(d.data(), d_.get() + bytes_d_ * static_cast<std::size_t>(which), d.size()), "cuMemcpyDtoH");
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  void open_library() {
    cublasLtHandle_t h = nullptr;
    must(::cublasLtCreate(&h), "cublasLtCreate");
    library_.reset(h);
    const raw_matmul_problem& p = problem_;
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
    // Column by column, this is D^T = B * A^T.
    must(::cublasLtMatmulDescInit(&product_, kind_.compute, kind_.scale), "cublasLtMatmulDescInit");
    const std::int32_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (p.epilogue != raw_matmul_epilogue::none) {
      const std::uint32_t what =
          p.epilogue == raw_matmul_epilogue::bias_gelu ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_RELU_BIAS;
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, what);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_.get());
    }
    must(::cublasLtMatrixLayoutInit(&layout_b_, kind_.factor, k, n, p.k), "cublasLtMatrixLayoutInit");
    must(::cublasLtMatrixLayoutInit(&layout_a_, kind_.factor, k, m, p.k), "cublasLtMatrixLayoutInit");
    must(::cublasLtMatrixLayoutInit(&layout_d_, kind_.result, n, m, p.n), "cublasLtMatrixLayoutInit");
    cublasLtMatmulPreferenceOpaque_t wishes;
    must(::cublasLtMatmulPreferenceInit(&wishes), "cublasLtMatmulPreferenceInit");
    const std::uint64_t limit = workspace_bytes;
    must(
        ::cublasLtMatmulPreferenceSetAttribute(&wishes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit),
        "cublasLtMatmulPreferenceSetAttribute");
    cublasLtMatmulHeuristicResult_t found{};
    int results = 0;
    must(::cublasLtMatmulAlgoGetHeuristic(h, &product_, &layout_b_, &layout_a_, &layout_d_, &layout_d_, &wishes, 1,
                                          &found, &results),
         "cublasLtMatmulAlgoGetHeuristic");
    algorithm_ = found.algo;
  }
  static device_memory repeated(std::span<const std::byte> one, std::size_t bytes) {
    device_memory out = make_memory(bytes);
    for (std::size_t at = 0; at < bytes; at += one.size())
      must(::cuMemcpyHtoD(out.get() + at, one.data(), std::min(one.size(), bytes - at)), "cuMemcpyHtoD");
    return out;
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t which, const V& value) {
    must(::cublasLtMatmulDescSetAttribute(&product_, which, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }

  kind kind_;
  raw_matmul_problem problem_{};
  stream stream_;
  std::size_t bytes_a_ = 0, bytes_b_ = 0, bytes_d_ = 0;
  device_memory workspace_, a_, b_, d_, bias_;
  std::unique_ptr<std::remove_pointer_t<cublasLtHandle_t>, closes_library> library_;
  cublasLtMatmulDescOpaque_t product_;
  cublasLtMatrixLayoutOpaque_t layout_a_, layout_b_, layout_d_;
  cublasLtMatmulAlgo_t algorithm_{};
  completion_word word_;
};

}  // namespace

std::unique_ptr<raw_matmuls> make_matmuls(const raw_matmul_problem& p, std::span<const std::byte> a,
                                          std::span<const std::byte> b, std::span<const std::byte> bias) {
  return std::make_unique<matmuls>(p, a, b, bias);
}

}  // namespace troupe::bench
