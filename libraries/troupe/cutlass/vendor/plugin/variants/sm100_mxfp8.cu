// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../blackwell.cuh"

using namespace troupe_vendor;
struct sm100_mxfp8_configuration : blackwell_defaults {
  using instructions = cutlass::arch::OpClassBlockScaledTensorOp;
  using factor = cutlass::mx_float8_t<float_e4m3_t>;
  using result = bfloat16_t;
  using tile = shape<256, 128, 128>;
  static constexpr int factor_alignment = 16;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecialized2SmMxf8f6f4Sm100;
};
TROUPE_VARIANT(sm100_mxfp8, gemm_3x<sm100_mxfp8_configuration>)
