// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../blackwell.cuh"

using namespace troupe_vendor;
struct sm100_nvfp4_configuration : blackwell_defaults {
  using instructions = cutlass::arch::OpClassBlockScaledTensorOp;
  using factor = cutlass::nv_float4_t<float_e2m1_t>;
  using result = bfloat16_t;
  using tile = shape<256, 128, 256>;
  static constexpr int factor_alignment = 32;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecialized2SmNvf4Sm100;
};
TROUPE_VARIANT(sm100_nvfp4, gemm_3x<sm100_nvfp4_configuration>)
