// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../gemm_3x.cuh"

using namespace troupe_vendor;
struct sm90_e4m3_fast_configuration : gemm_3x_defaults {
  using factor = float_e4m3_t;
  using result = bfloat16_t;
  using tile = shape<128, 256, 128>;
  static constexpr int factor_alignment = 16;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum;
  static constexpr const char* schedule_name = "cooperative, fast accumulation";
};
TROUPE_VARIANT(sm90_e4m3_fast, gemm_3x<sm90_e4m3_fast_configuration>)
