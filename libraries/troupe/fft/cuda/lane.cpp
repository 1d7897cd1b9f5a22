// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/fft/cuda/lane.hpp>

namespace troupe::fft {

result<std::unique_ptr<lane>> lane::make() {
  constexpr std::size_t no_workspace = 256;  // bytes of the first work area, which grows to what plans need
  return std::unique_ptr<lane>(new lane(TROUPE_TRY(cuda::lane_memory::make("fft", no_workspace))));
}

lane::~lane() { free_area(); }

result<void> lane::use(const call& c) {
  TROUPE_TRY(memory_.begin(c));
  return {};
}

void lane::free_area() noexcept {
  if (area_ != 0) (void)::cuMemFreeAsync(area_, stream_);
  area_ = 0, bytes_ = 0;
}

result<void*> lane::work(const call& c, std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (c.recording != nullptr) [[unlikely]]
    return c.scratch(bytes);
  if (stream_ != stream()) free_area();
  stream_ = stream();
  if (bytes > bytes_) {
    free_area();
    if (const CUresult s = ::cuMemAllocAsync(&area_, bytes, stream_); s != CUDA_SUCCESS) {
      area_ = 0;
      if (s != CUDA_ERROR_OUT_OF_MEMORY) return cuda::failed_on(stream_, "fft", "cuMemAllocAsync", s);
      std::size_t free = 0, total = 0;
      (void)::cuMemGetInfo(&free, &total);
      return error(reaction::retry_later, "fft",
                   cat("the plan needs a work area of ", bytes >> 20, " MiB, but the GPU has ", free >> 20,
                       " MiB free; transform a smaller batch at a time, or free buffers"));
    }
    bytes_ = bytes;
  }
  return reinterpret_cast<void*>(area_);
}

}  // namespace troupe::fft
