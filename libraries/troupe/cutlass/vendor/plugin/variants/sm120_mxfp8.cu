// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../blackwell.cuh"

using namespace troupe_vendor;
struct sm120_mxfp8_configuration : geforce_defaults {
  using factor = cutlass::mx_float8_t<float_e4m3_t>;
  using result = bfloat16_t;
  using tile = shape<128, 128, 128>;
  static constexpr int factor_alignment = 16;
};
TROUPE_VARIANT(sm120_mxfp8, gemm_3x<sm120_mxfp8_configuration>)
