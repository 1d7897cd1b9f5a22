// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../gemm_3x.cuh"

using namespace troupe_vendor;
struct sm90_f16_cooperative_configuration : gemm_3x_defaults {
  using factor = half_t;
  using result = half_t;
  using tile = shape<128, 256, 64>;
  static constexpr int factor_alignment = 8;
};
TROUPE_VARIANT(sm90_f16_cooperative, gemm_3x<sm90_f16_cooperative_configuration>)
