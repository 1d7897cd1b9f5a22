// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/cuda/engine.hpp>

namespace troupe::blas {

result<std::unique_ptr<cublas>> cublas::make(const engine_context& context) {
  auto kernels = TROUPE_TRY(load_kernels());
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  int version = 0;
  TROUPE_TRY(done(::cublasGetVersion(lanes.first().handle(), &version), "cublasGetVersion"));
  std::unique_ptr<cublas> out(new cublas(std::move(kernels), std::move(lanes)));
  const int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  out->version_ = cat("cuBLAS ", major, ".", minor, ".", patch);
  return out;
}

std::string cublas::notes() const {
  return cat("workspace: ", lane::workspace_bytes >> 20, " MiB for each lane\nkernels of our own: ", kernels_.size());
}

error cublas::explained(const error& e, const std::string& request) {
  error::details d = e.all();
  d.text += ": " + request;
  return error(std::move(d));
}

}  // namespace troupe::blas

using namespace troupe::blas;
TROUPE_ENGINE_OF_PARTS(cublas, "blas", "cuda", level1_operations(), rotation_operations(), level2_operations(),
                       triangular_operations(), update_operations(), gemm_operations(), level3_operations(),
                       extension_operations(), batched_operations(), factorization_operations())
