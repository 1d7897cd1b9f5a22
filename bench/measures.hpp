// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <span>

/// The measures of the host, in the order in which they run. Each is in the source that has its name; measures that
/// compare a library with bare calls share a source.
#define TROUPE_MEASURES_OF_HOST                                                                                  \
  tell_gemm, ask_gemm, arena_alloc_free, ask_empty_blocked, ask_empty_spinning, ask_shared, blas_dgemm_1024,     \
      blas_dgemm_2048, blas_dgemm_peak, blas_small, blas_gemv_4096, blas_axpy_1e6, blas_burst, fft_c2c, fft_ask, \
      matmul_f32, matmul_bias_relu, matmul_bias_gelu, jit_launch, jit_saxpy, jit_tile_gemm, jit_cache_hit,       \
      copy_roundtrip, recover_standby, recover_cold, recover_hang, recover_steady, supervise_cost, idle_cpu,     \
      compile_umbrella, doctor, dnn_conv_host, dnn_train_host
/// The measures of a GPU, in bench/gpu.
#define TROUPE_MEASURES_OF_GPU                                                                                         \
  gpu_roundtrip, gpu_stream, gpu_stream_mixed, gpu_stream_alone, gpu_graph, gpu_sgemm_2048, gpu_hgemm_8192, gpu_burst, \
      gpu_fft_c2c, gpu_fft_small, gpu_fft_ask, gpu_matmul_bf16, gpu_matmul_fp8, gpu_matmul_f16, gpu_matmul_tf32,       \
      gpu_matmul_f64, gpu_matmul_models, gpu_matmul_bias_gelu, gpu_matmul_small, gpu_matmul_burst, gpu_matmul_warm,    \
      gpu_copy_in, gpu_copy_out, gpu_copy_pageable, gpu_download_pageable, gpu_small, gpu_overlap, gpu_alloc,          \
      gpu_recover_standby, gpu_recover_cold, gpu_recover_hang, gpu_recover_trap, gpu_recover_assert,                   \
      gpu_recover_misaligned, gpu_recover_shared, gpu_recover_address, gpu_sealed, gpu_bystander, dnn_conv_resnet50,   \
      dnn_conv_fused, dnn_attention, dnn_attention_decode, dnn_norms, dnn_plan_warm, dnn_train, cutlass_bf16,          \
      cutlass_f16, cutlass_fp8_fast, cutlass_fp8_promoted, cutlass_s8, cutlass_tf32, cutlass_models,                   \
      cutlass_models_model, cutlass_skinny, cutlass_fused_gelu, cutlass_fused_swiglu, cutlass_fused_rows,              \
      cutlass_fused_amax, cutlass_grouped, cutlass_conv_forward, cutlass_conv_data_gradient,                           \
      cutlass_conv_weight_gradient, cutlass_compile_cold, cutlass_compile_second, cutlass_compile_prebuilt,            \
      cutlass_compile_known, cutlass_compile_new_size

namespace troupe::bench {

extern const measure TROUPE_MEASURES_OF_HOST;
extern const measure TROUPE_MEASURES_OF_GPU;

/// Returns all measures for devices of an engine.
std::span<const measure> measures(std::string_view engine) noexcept;

}  // namespace troupe::bench
