// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <span>

namespace troupe::bench {

/// Returns all measures for devices of an engine, in the order in which they run.
std::span<const measure> measures(std::string_view engine) noexcept;

// Each is in the source of its name; those that compare a library with bare calls share one.
extern const measure tell_gemm;
extern const measure ask_gemm;
extern const measure arena_alloc_free;
extern const measure ask_empty_blocked;
extern const measure ask_empty_spinning;
extern const measure ask_shared;
extern const measure blas_dgemm_1024;
extern const measure blas_dgemm_2048;
extern const measure blas_dgemm_peak;
extern const measure blas_small;
extern const measure blas_gemv_4096;
extern const measure blas_axpy_1e6;
extern const measure blas_burst;
extern const measure fft_c2c;
extern const measure fft_ask;
extern const measure matmul_f32;
extern const measure matmul_bias_relu;
extern const measure matmul_bias_gelu;
extern const measure dnn_conv_host;
extern const measure dnn_train_host;
extern const measure jit_launch;
extern const measure jit_saxpy;
extern const measure jit_tile_gemm;
extern const measure jit_cache_hit;
extern const measure copy_roundtrip;
extern const measure recover_standby;
extern const measure recover_cold;
extern const measure recover_hang;
extern const measure recover_steady;
extern const measure supervise_cost;
extern const measure idle_cpu;
extern const measure compile_umbrella;
extern const measure doctor;

// Measures of a GPU, in bench/gpu.
extern const measure gpu_roundtrip;
extern const measure gpu_stream;
extern const measure gpu_stream_mixed;
extern const measure gpu_stream_alone;
extern const measure gpu_graph;
extern const measure gpu_sgemm_2048;
extern const measure gpu_hgemm_8192;
extern const measure gpu_burst;
extern const measure gpu_fft_c2c;
extern const measure gpu_fft_small;
extern const measure gpu_fft_ask;
extern const measure gpu_matmul_bf16;
extern const measure gpu_matmul_fp8;
extern const measure gpu_matmul_f16;
extern const measure gpu_matmul_tf32;
extern const measure gpu_matmul_f64;
extern const measure gpu_matmul_models;
extern const measure gpu_matmul_bias_gelu;
extern const measure gpu_matmul_small;
extern const measure gpu_matmul_burst;
extern const measure gpu_matmul_warm;
extern const measure gpu_copy_in;
extern const measure gpu_copy_out;
extern const measure gpu_copy_pageable;
extern const measure gpu_download_pageable;
extern const measure gpu_small;
extern const measure gpu_overlap;
extern const measure gpu_alloc;
extern const measure gpu_recover_standby;
extern const measure gpu_recover_cold;
extern const measure gpu_recover_hang;
extern const measure gpu_recover_trap;
extern const measure gpu_recover_assert;
extern const measure gpu_recover_misaligned;
extern const measure gpu_recover_shared;
extern const measure gpu_recover_address;
extern const measure gpu_sealed;
extern const measure gpu_bystander;
extern const measure dnn_conv_resnet50;
extern const measure dnn_conv_fused;
extern const measure dnn_attention;
extern const measure dnn_attention_decode;
extern const measure dnn_norms;
extern const measure dnn_plan_warm;
extern const measure dnn_train;
extern const measure cutlass_bf16;
extern const measure cutlass_f16;
extern const measure cutlass_fp8_fast;
extern const measure cutlass_fp8_promoted;
extern const measure cutlass_s8;
extern const measure cutlass_tf32;
extern const measure cutlass_models;
extern const measure cutlass_models_model;
extern const measure cutlass_skinny;
extern const measure cutlass_fused_gelu;
extern const measure cutlass_fused_swiglu;
extern const measure cutlass_fused_rows;
extern const measure cutlass_fused_amax;
extern const measure cutlass_grouped;
extern const measure cutlass_conv_forward;
extern const measure cutlass_conv_data_gradient;
extern const measure cutlass_conv_weight_gradient;
extern const measure cutlass_compile_cold;
extern const measure cutlass_compile_second;
extern const measure cutlass_compile_prebuilt;
extern const measure cutlass_compile_known;

}  // namespace troupe::bench
