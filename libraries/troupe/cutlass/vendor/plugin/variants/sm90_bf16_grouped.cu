// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../grouped_3x.cuh"

using namespace troupe_vendor;
struct sm90_bf16_grouped_configuration : grouped_defaults {
  using factor = bfloat16_t;
  using result = bfloat16_t;
  using tile = shape<128, 256, 64>;
  static constexpr int factor_alignment = 8;
};
TROUPE_VARIANT(sm90_bf16_grouped, grouped_3x<sm90_bf16_grouped_configuration>)
