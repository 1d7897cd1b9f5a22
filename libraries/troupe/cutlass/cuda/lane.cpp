// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <algorithm>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/cutlass/cuda/lane.hpp>

namespace troupe::cutlass {

static_assert(sizeof(kernels::tensor_map) == sizeof(CUtensorMap));

result<void> lane::map(const matrix_map& m, kernels::tensor_map& to) {
  static_assert(std::has_unique_object_representations_v<matrix_map>);
  const std::uint64_t mixed = (m.address >> 8) * 0x9e3779b97f4a7c15u ^ m.inner * 31 ^ m.outer * 17 ^ m.outer_box;
  known_map& entry = maps_[(mixed >> 32 ^ mixed) % most_maps];
  if (std::memcmp(&entry.matrix, &m, sizeof m) != 0) {
    const cuuint64_t extents[3] = {m.inner, m.outer, m.batch}, strides[2] = {m.outer_stride, m.batch_stride};
    const cuuint32_t box[3] = {m.inner_box, m.outer_box, 1}, steps[3] = {1, 1, 1};
    CUtensorMap made;
    TROUPE_TRY(cuda::done_on(
        nullptr, "cutlass", "cuTensorMapEncodeTiled",
        ::cuTensorMapEncodeTiled(&made, static_cast<CUtensorMapDataType>(m.type), 3, reinterpret_cast<void*>(m.address),
                                 extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 static_cast<CUtensorMapSwizzle>(m.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
    std::memcpy(&entry.map, &made, sizeof made);
    entry.matrix = m;
  }
  to = entry.map;
  return {};
}

result<lane::workspace> lane::take(std::uint64_t bytes, std::uint32_t counters, call& c) {
  workspace out;
  if (bytes != 0) {
    auto taken = TROUPE_TRY(scratch_.take(c, "cutlass", bytes));
    out.scratch.emplace(std::move(taken));
  }
  if (counters != 0) out.arrivals = TROUPE_TRY(arrivals(counters, c));
  return out;
}

result<std::uint64_t> lane::arrivals(std::uint32_t count, const call& c) {
  const auto stream = static_cast<CUstream>(c.stream);
  const auto clear = [&](CUdeviceptr memory, std::uint32_t all) {
    return cuda::done_on(stream, "cutlass", "cuMemsetD32Async", ::cuMemsetD32Async(memory, 0, all, stream));
  };
  if (c.recording != nullptr) {
    auto* const memory = TROUPE_TRY(c.scratch(count * sizeof(unsigned)));
    TROUPE_TRY(clear(reinterpret_cast<CUdeviceptr>(memory), count));
    return reinterpret_cast<std::uint64_t>(memory);
  }
  if (count > arrivals_count_) {
    const std::uint32_t all = std::max(count, 4096u);
    CUdeviceptr made = 0;
    TROUPE_TRY(cuda::done_on(stream, "cutlass", "cuMemAlloc", ::cuMemAlloc(&made, all * sizeof(unsigned))));
    arrivals_.reset(made);
    arrivals_count_ = all;
    TROUPE_TRY(clear(made, all));
  }
  return arrivals_.get();
}

}  // namespace troupe::cutlass
