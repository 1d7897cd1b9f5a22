// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../gemm_3x.cuh"

using namespace troupe_vendor;
struct sm90_bf16_pingpong_configuration : gemm_3x_defaults {
  using factor = bfloat16_t;
  using result = bfloat16_t;
  using tile = shape<64, 128, 64>;
  static constexpr int factor_alignment = 8;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using epilogue = cutlass::epilogue::TmaWarpSpecialized;
  static constexpr const char* schedule_name = "ping-pong";
};
TROUPE_VARIANT(sm90_bf16_pingpong, gemm_3x<sm90_bf16_pingpong_configuration>)
