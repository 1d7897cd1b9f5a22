// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "lane.hpp"
#include <troupe/base/try.hpp>

#include <algorithm>

#include "status.hpp"

namespace troupe::blas {

result<argument_ring> argument_ring::make() {
  argument_ring out;
  void* memory = nullptr;
  TROUPE_TRY(done("cuMemHostAlloc",
                  ::cuMemHostAlloc(&memory, parts * part_bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                  nullptr));
  out.memory_.reset(static_cast<std::byte*>(memory));
  for (auto& event : out.passed_) {
    CUevent made = nullptr;
    if (auto ok =
            done("cuEventCreate", ::cuEventCreate(&made, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC), nullptr);
        !ok)
      return ok.error();
    event.reset(made);
  }
  return out;
}

// The call that used a part last came before this one, so now its event says when the part is free.
result<void> argument_ring::begin(CUstream stream) {
  for (; left_ > 0; --left_) {
    const CUevent event = passed_[(part_ + parts - left_) % parts].get();
    TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(event, stream), stream));
  }
  return {};
}

result<std::byte*> argument_ring::claim(std::size_t bytes) {
  constexpr std::size_t align = 16;
  bytes = (bytes + align - 1) / align * align;
  if (bytes > part_bytes || left_ >= parts - 1)
    return error(reaction::fatal, "blas", "the arguments of one call do not fit the memory for them");
  if (used_ + bytes > part_bytes) {
    ++left_;
    part_ = (part_ + 1) % parts;
    used_ = 0;
    // Of an event that was never recorded it says that it has passed.
    TROUPE_TRY(done("cuEventSynchronize", ::cuEventSynchronize(passed_[part_].get()), nullptr));
  }
  std::byte* const at = memory_.get() + part_ * part_bytes + used_;
  used_ += bytes;
  return at;
}

result<std::unique_ptr<lane>> lane::make() {
  auto arguments = TROUPE_TRY(argument_ring::make());
  std::unique_ptr<lane> out(new lane(std::move(arguments)));
  CUdeviceptr memory = 0;
  TROUPE_TRY(done("cuMemAlloc of a workspace", ::cuMemAlloc(&memory, workspace_bytes + between_bytes), nullptr));
  out->memory_.reset(memory);
  bool broken = false;
  cublasHandle_t handle = nullptr;
  if (const cublasStatus_t s = ::cublasCreate(&handle); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasCreate", s, nullptr, broken);
  out->handle_.reset(handle);
  // Sums of half and bfloat16 are rounded once, at the end, as the requests say.
  const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  if (const cublasStatus_t s = ::cublasSetMathMode(handle, mode); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasSetMathMode", s, nullptr, broken);
  return out;
}

result<void> lane::work(CUstream stream, CUdeviceptr in) {
  has_stream_ = false;
  bool broken = false;
  if (const cublasStatus_t s = ::cublasSetStream(handle_.get(), stream); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasSetStream", s, stream, broken);
  // Only now: a change of stream gives the workspace up.
  if (const cublasStatus_t s = ::cublasSetWorkspace(handle_.get(), reinterpret_cast<void*>(in), workspace_bytes);
      s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasSetWorkspace", s, stream, broken);
  stream_ = stream;
  works_in_ = in;
  has_stream_ = true;
  return {};
}

result<void> lane::use(const call& c) {
  const auto stream = static_cast<CUstream>(c.stream);
  if (c.recording != nullptr) [[unlikely]] {
    records_ = &c;
    const auto kept = TROUPE_TRY(c.scratch(workspace_bytes + between_bytes));
    return work(stream, reinterpret_cast<CUdeviceptr>(kept));
  }
  records_ = nullptr;
  if (!has_stream_ || stream != stream_ || works_in_ != memory_.get()) [[unlikely]]
    TROUPE_TRY(work(stream, memory_.get()));
  return arguments_.begin(stream);
}

result<std::byte*> lane::claim(std::size_t bytes) {
  if (records_ == nullptr) [[likely]]
    return arguments_.claim(bytes);
  const auto kept = TROUPE_TRY(records_->constants(bytes));
  return static_cast<std::byte*>(kept);
}

cublasStatus_t lane::set_scalars_in(cublasPointerMode_t where) noexcept {
  if (where == scalars_in_) return CUBLAS_STATUS_SUCCESS;
  const cublasStatus_t s = ::cublasSetPointerMode(handle_.get(), where);
  if (s == CUBLAS_STATUS_SUCCESS) scalars_in_ = where;
  return s;
}

}  // namespace troupe::blas
