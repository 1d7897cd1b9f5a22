// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>

namespace troupe::blas {

result<std::unique_ptr<cublas>> cublas::make(const engine_context& context) {
  auto kernels = TROUPE_TRY(kernel_set::make());
  // Here and not at the first request: cuBLAS's first handle takes a tenth of a second.
  auto first = TROUPE_TRY(lane::make());
  int version = 0;
  bool broken = false;
  if (const cublasStatus_t s = ::cublasGetVersion(first->handle(), &version); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasGetVersion", s, nullptr, broken);
  std::unique_ptr<cublas> out(new cublas(std::move(kernels), context.lanes, std::move(first)));
  const int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  out->version_ = cat("cuBLAS ", major, ".", minor, ".", patch);
  return out;
}

std::string cublas::notes() const {
  return cat("workspace: ", lane::workspace_bytes >> 20, " MiB for each lane\nkernels of our own: ", kernels_.size());
}

result<std::unique_ptr<lane>> cublas::new_lane() {
  {
    const std::lock_guard lock(mutex_);
    if (spare_ != nullptr) return std::move(spare_);
  }
  return lane::make();
}

result<lane*> cublas::lane_of(const call& c) {
  if (c.lane >= lanes_.size()) return error(reaction::fatal, "blas", cat("lane ", c.lane, " is none of the worker's"));
  std::unique_ptr<lane>& place = lanes_[c.lane];
  if (place == nullptr) [[unlikely]] {
    place = TROUPE_TRY(new_lane());
  }
  TROUPE_TRY(place->use(c));
  return place.get();
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
