// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "../gemm_3x.cuh"

using namespace troupe_vendor;
struct sm90_bf16_bias_gelu_configuration : gemm_3x_defaults {
  using factor = bfloat16_t;
  using result = bfloat16_t;
  using tile = shape<128, 256, 64>;
  static constexpr int factor_alignment = 8;
  template <class D>
  using fusion = cutlass::epilogue::fusion::LinCombPerColBiasEltAct<cutlass::epilogue::thread::GELU_taylor, D, float>;
  static constexpr const char* epilogue_name = "gelu(alpha * acc + beta * c + bias)";
};
TROUPE_VARIANT(sm90_bf16_bias_gelu, gemm_3x<sm90_bf16_bias_gelu_configuration>)
