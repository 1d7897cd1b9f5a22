// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../gemm_3x.cuh"

using namespace troupe_vendor;
struct sm90_bf16_stream_k_configuration : gemm_3x_defaults {
  using factor = bfloat16_t;
  using result = bfloat16_t;
  using tile = shape<128, 256, 64>;
  static constexpr int factor_alignment = 8;
  using scheduler = cutlass::gemm::StreamKScheduler;
  static constexpr const char* schedule_name = "cooperative, stream-K";
};
TROUPE_VARIANT(sm90_bf16_stream_k, gemm_3x<sm90_bf16_stream_k_configuration>)
