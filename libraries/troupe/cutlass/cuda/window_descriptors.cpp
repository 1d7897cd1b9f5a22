// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/cutlass/cuda/window_descriptors.hpp>

namespace troupe::cutlass {

CUtensorMapDataType map_type(dtype t) noexcept {
  switch (t) {
    case dtype::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case dtype::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case dtype::f32:
      return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case dtype::i16:
    case dtype::u16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    default:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

result<void> describe(const window_map& m, kernels::tensor_map& to) {
  static_assert(sizeof to == sizeof(CUtensorMap));
  CUtensorMap made;
  auto* const address = reinterpret_cast<void*>(m.address);
  std::array<cuuint64_t, window_map::most> extents{};
  std::array<cuuint64_t, window_map::most - 1> strides{};
  std::copy(m.extents.begin(), m.extents.end(), extents.begin());
  std::copy(m.strides.begin(), m.strides.end(), strides.begin());
  if (m.gathers) {
    TROUPE_TRY(cuda::done_on(
        nullptr, "cutlass", "cuTensorMapEncodeIm2col",
        ::cuTensorMapEncodeIm2col(&made, map_type(m.type), m.rank, address, extents.data(), strides.data(),
                                  m.lower.data(), m.upper.data(), m.channels, m.items, m.steps.data(),
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
  } else {
    const cuuint32_t box[window_map::most] = {m.channels, 1, 1, 1, m.items};
    TROUPE_TRY(cuda::done_on(
        nullptr, "cutlass", "cuTensorMapEncodeTiled",
        ::cuTensorMapEncodeTiled(&made, map_type(m.type), m.rank, address, extents.data(), strides.data(), box,
                                 m.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
  }
  std::memcpy(&to, &made, sizeof made);
  return {};
}

}  // namespace troupe::cutlass
