// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/lane.hpp>
#include <troupe/blas/cuda/status.hpp>
#include <troupe/cuda/default_stream.hpp>

namespace troupe::blas {

result<std::unique_ptr<lane>> lane::make() {
  std::unique_ptr<lane> out(new lane(TROUPE_TRY(cuda::lane_memory::make("blas", workspace_bytes + between_bytes))));
  cublasHandle_t handle = nullptr;
  TROUPE_TRY(done(::cublasCreate(&handle), "cublasCreate"));
  out->handle_.reset(handle);
  TROUPE_TRY(cuda::await_default_stream("blas"));
  // Sums of half and bfloat16 are rounded once, at the end, as the requests specify.
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  TROUPE_TRY(done(::cublasSetMathMode(handle, mode), "cublasSetMathMode"));
  return out;
}

result<void> lane::use(const call& c) {
  if (!TROUPE_TRY(memory_.begin(c))) [[likely]]
    return {};
  const auto status = [&]() -> result<void> {
    TROUPE_TRY(done(::cublasSetStream(handle_.get(), memory_.stream()), "cublasSetStream", memory_.stream()));
    // The workspace is set last, because setting the stream resets it.
    return done(::cublasSetWorkspace(handle_.get(), memory_.workspace(), workspace_bytes), "cublasSetWorkspace",
                memory_.stream());
  }();
  if (!status) memory_.forget();
  return status;
}

cublasStatus_t lane::set_scalars_in(cublasPointerMode_t where) noexcept {
  if (where == scalars_in_) return CUBLAS_STATUS_SUCCESS;
  const cublasStatus_t s = ::cublasSetPointerMode(handle_.get(), where);
  if (s == CUBLAS_STATUS_SUCCESS) scalars_in_ = where;
  return s;
}

}  // namespace troupe::blas
