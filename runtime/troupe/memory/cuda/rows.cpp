// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <cstdint>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>

namespace troupe::memory {

result<void> copy_rows(const copy_2d& r, CUstream stream) {
  constexpr std::size_t most_pitch = INT32_MAX;  // CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU
  const auto size = [](extent e) { return static_cast<std::size_t>(e.value()); };
  const std::size_t width = size(r.width), rows = size(r.rows);
  const std::size_t from_pitch = size(or_tight(r.source_pitch, r.width));
  const std::size_t to_pitch = size(or_tight(r.target_pitch, r.width));
  const auto from = reinterpret_cast<CUdeviceptr>(r.source.data()), to = reinterpret_cast<CUdeviceptr>(r.target.data());
  const auto copy = [&](std::size_t from_at, std::size_t to_at, std::size_t bytes) {
    return cuda::done(::cuMemcpyAsync(to + to_at, from + from_at, bytes, stream), "cuMemcpyAsync");
  };
  if (rows == 1 || (from_pitch == width && to_pitch == width)) return copy(0, 0, width * rows);
  if (std::max(from_pitch, to_pitch) > most_pitch) {
    // Rows with such a pitch are few, because memory is limited.
    for (std::size_t i = 0; i < rows; ++i) TROUPE_TRY(copy(i * from_pitch, i * to_pitch, width));
    return {};
  }
  CUDA_MEMCPY2D how{};
  how.srcMemoryType = how.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  how.srcDevice = from;
  how.dstDevice = to;
  how.srcPitch = from_pitch;
  how.dstPitch = to_pitch;
  how.WidthInBytes = width;
  how.Height = rows;
  return cuda::done(::cuMemcpy2DAsync(&how, stream), "cuMemcpy2DAsync");
}

}  // namespace troupe::memory
