// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../blackwell.cuh"

using namespace troupe_vendor;
struct sm100_bf16_configuration : blackwell_defaults {
  using factor = bfloat16_t;
  using result = bfloat16_t;
  using tile = shape<256, 128, 64>;
  static constexpr int factor_alignment = 8;
};
TROUPE_VARIANT(sm100_bf16, gemm_3x<sm100_bf16_configuration>)
