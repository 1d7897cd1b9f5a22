// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../blackwell.cuh"

using namespace troupe_vendor;
struct sm120_nvfp4_configuration : geforce_defaults {
  using factor = cutlass::nv_float4_t<float_e2m1_t>;
  using result = bfloat16_t;
  using tile = shape<128, 128, 128>;
  static constexpr int factor_alignment = 32;
};
TROUPE_VARIANT(sm120_nvfp4, gemm_3x<sm120_nvfp4_configuration>)
