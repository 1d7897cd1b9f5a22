// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <span>

namespace troupe::bench {

/// All there are, in the order in which they run.
std::span<const measure> measures() noexcept;

// In source files of these names; those of blas against the bare library share one.
extern const measure tell_gemm;
extern const measure arena_alloc_free;
extern const measure ask_empty_blocked;
extern const measure ask_empty_spinning;
extern const measure blas_dgemm_1024;
extern const measure blas_dgemm_2048;
extern const measure blas_gemv_4096;
extern const measure blas_axpy_1e6;
extern const measure blas_burst;
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

}  // namespace troupe::bench
