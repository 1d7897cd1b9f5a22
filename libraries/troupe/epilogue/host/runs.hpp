// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/op.hpp>

/// Operations of epilogues on runs of numbers: of floats, compiled for several kinds of processor; of doubles; and of
/// complex numbers, which have linear operations only.
namespace troupe::epilogue::host {

/// Computes out[i] = what(x[i], y[i], z[i]) for n elements. `out` may be one of the arguments.
void apply(op what, float* out, const float* x, const float* y, const float* z, std::int64_t n) noexcept;
void apply(op what, double* out, const double* x, const double* y, const double* z, std::int64_t n) noexcept;
void apply(op what, complex64* out, const complex64* x, const complex64* y, const complex64* z,
           std::int64_t n) noexcept;
void apply(op what, complex128* out, const complex128* x, const complex128* y, const complex128* z,
           std::int64_t n) noexcept;

/// Reads n elements of memory, `stride` elements apart. If the stride is 0, reads one element n times.
void read(dtype type, const void* from, std::int64_t stride, float* to, std::int64_t n) noexcept;
void read(dtype type, const void* from, std::int64_t stride, double* to, std::int64_t n) noexcept;
void read(dtype type, const void* from, std::int64_t stride, complex64* to, std::int64_t n) noexcept;
void read(dtype type, const void* from, std::int64_t stride, complex128* to, std::int64_t n) noexcept;
/// Rounds n numbers to the type and writes them, `stride` elements apart.
void write(dtype type, const float* from, void* to, std::int64_t stride, std::int64_t n) noexcept;
void write(dtype type, const double* from, void* to, std::int64_t stride, std::int64_t n) noexcept;
void write(dtype type, const complex64* from, void* to, std::int64_t stride, std::int64_t n) noexcept;
void write(dtype type, const complex128* from, void* to, std::int64_t stride, std::int64_t n) noexcept;
/// Rounds n numbers to the type.
void round(dtype type, const float* from, float* to, std::int64_t n) noexcept;
void round(dtype type, const double* from, double* to, std::int64_t n) noexcept;
void round(dtype type, const complex64* from, complex64* to, std::int64_t n) noexcept;
void round(dtype type, const complex128* from, complex128* to, std::int64_t n) noexcept;

/// Returns the reduction of `so_far` and n numbers.
double combine(reduction how, const float* x, std::int64_t n, double so_far) noexcept;
double combine(reduction how, const double* x, std::int64_t n, double so_far) noexcept;
/// Replaces so_far[i] by the reduction of so_far[i] and x[i].
void combine_each(reduction how, const float* x, std::int64_t n, double* so_far) noexcept;
void combine_each(reduction how, const double* x, std::int64_t n, double* so_far) noexcept;

}  // namespace troupe::epilogue::host
