// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

namespace troupe::blas {

result<std::unique_ptr<cublas>> cublas::make(const engine_context& context) {
  auto kernels = kernel_set::make();
  if (!kernels) return kernels.error();
  // Here and not at the first request: cuBLAS's first handle takes a tenth of a second.
  auto first = lane::make();
  if (!first) return first.error();
  int version = 0;
  bool broken = false;
  if (const cublasStatus_t s = ::cublasGetVersion((*first)->handle(), &version); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasGetVersion", s, nullptr, broken);
  std::unique_ptr<cublas> out(new cublas(std::move(*kernels), context.lanes, std::move(*first)));
  const int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  out->version_ = "cuBLAS " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  return out;
}

std::string cublas::notes() const {
  return "workspace: " + std::to_string(lane::workspace_bytes >> 20) +
         " MiB for each lane\nkernels of our own: " + std::to_string(kernels_.size());
}

result<std::unique_ptr<lane>> cublas::new_lane() {
  {
    const std::lock_guard lock(mutex_);
    if (spare_ != nullptr) return std::move(spare_);
  }
  return lane::make();
}

result<lane*> cublas::lane_of(const call& c) {
  if (c.lane >= lanes_.size())
    return error(reaction::fatal, "blas", "lane " + std::to_string(c.lane) + " is none of the worker's");
  std::unique_ptr<lane>& place = lanes_[c.lane];
  if (place == nullptr) [[unlikely]] {
    auto made = new_lane();
    if (!made) return made.error();
    place = std::move(*made);
  }
  if (auto ok = place->use(c); !ok) return ok.error();
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
