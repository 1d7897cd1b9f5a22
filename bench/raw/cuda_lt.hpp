// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <bench/raw/cuda_calls.hpp>

/// Products of cuBLASLt of one kind.
namespace troupe::bench {

inline void must(cublasStatus_t s, const char* call) {
  if (s != CUBLAS_STATUS_SUCCESS)
    throw bad_result(error(reaction::fatal, "bench", std::string("raw ") + call + ": " + ::cublasLtGetStatusName(s)));
}

struct closes_lt {
  using pointer = cublasLtHandle_t;
  void operator()(cublasLtHandle_t h) const noexcept { (void)::cublasLtDestroy(h); }
};
using lt_handle = std::unique_ptr<std::remove_pointer_t<cublasLtHandle_t>, closes_lt>;

inline lt_handle make_lt() {
  cublasLtHandle_t h = nullptr;
  must(::cublasLtCreate(&h), "cublasLtCreate");
  return lt_handle(h);
}

/// The element types of a product.
struct lt_types {
  cudaDataType factor, c, d;
  cublasComputeType_t compute;
  cudaDataType scale;
};

/// D = A * B^T, where A is m x k and B is n x k, all stored row by row. In column-major terms, this is D^T = B * A^T.
/// Set what the description needs, then call `search`.
class lt_product {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  lt_product(const lt_types& t, std::int64_t m, std::int64_t n, std::int64_t k) : types_(t) {
    must(::cublasLtMatmulDescInit(&product_, t.compute, t.scale), "cublasLtMatmulDescInit");
    const std::int32_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    const auto layout = [](cublasLtMatrixLayoutOpaque_t& to, cudaDataType type, std::int64_t rows,
                           std::int64_t columns) {
      must(::cublasLtMatrixLayoutInit(&to, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                      rows),
           "cublasLtMatrixLayoutInit");
    };
    layout(b_, t.factor, k, n), layout(a_, t.factor, k, m), layout(c_, t.c, n, m), layout(d_, t.d, n, m);
  }
  template <class V>
  void set(cublasLtMatmulDescAttributes_t which, const V& value) {
    must(::cublasLtMatmulDescSetAttribute(&product_, which, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  }
  /// Takes the first algorithm that the heuristic returns. Returns false if there is none.
  bool search(const lt_handle& library) {
    cublasLtMatmulPreferenceOpaque_t preference;
    must(::cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    const std::uint64_t limit = workspace_bytes;
    must(::cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                                sizeof limit),
         "cublasLtMatmulPreferenceSetAttribute");
    cublasLtMatmulHeuristicResult_t found{};
    int results = 0;
    const cublasStatus_t s = ::cublasLtMatmulAlgoGetHeuristic(library.get(), &product_, &b_, &a_, &c_, &d_, &preference,
                                                              1, &found, &results);
    if (s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_INVALID_VALUE ||
        (s == CUBLAS_STATUS_SUCCESS && results == 0))
      return false;
    must(s, "cublasLtMatmulAlgoGetHeuristic");
    algorithm_ = found.algo;
    return true;
  }
  /// D = A * B^T + beta * C. `beta` is 0 or 1; C is not read if it is 0.
  void run(const lt_handle& library, CUdeviceptr a, CUdeviceptr b, int beta, CUdeviceptr c, CUdeviceptr d,
           const device_memory& workspace, const stream& on) const {
    const auto at = [](CUdeviceptr p) { return reinterpret_cast<void*>(p); };
    const scalar one = scalar_of(1), other = scalar_of(beta);
    must(::cublasLtMatmul(library.get(), &product_, &one, at(b), &b_, at(a), &a_, &other, at(c), &c_, at(d), &d_,
                          &algorithm_, at(workspace.get()), workspace_bytes, on.get()),
         "cublasLtMatmul");
  }
  const cublasLtMatmulAlgo_t& algorithm() const noexcept { return algorithm_; }

 private:
  union scalar {
    float f;
    double d;
    std::int32_t i;
  };
  scalar scalar_of(int x) const {
    scalar s{};
    if (types_.scale == CUDA_R_64F)
      s.d = x;
    else if (types_.scale == CUDA_R_32I)
      s.i = x;
    else
      s.f = static_cast<float>(x);
    return s;
  }
  mutable cublasLtMatmulDescOpaque_t product_;
  mutable cublasLtMatrixLayoutOpaque_t a_, b_, c_, d_;
  cublasLtMatmulAlgo_t algorithm_{};
  lt_types types_;
};

}  // namespace troupe::bench
