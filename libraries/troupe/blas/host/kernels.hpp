// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/half.hpp>

/// Loops of our own, compiled for several kinds of processor; the one at hand is chosen when the engine is loaded.
namespace troupe::blas {

/// The root of the sum of squares, scaled so that no square leaves the range of double.
double scaled_norm(const float* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const double* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const complex64* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const complex128* x, std::int64_t n, std::int64_t inc) noexcept;

/// Which of x[0], x[inc] ... is the largest or smallest in magnitude: the first such one, or the last. NaN is passed
/// over; where all are NaN, the first, or last, is answered. `inc` is positive.
std::int64_t find_extremum(const float* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const double* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const complex64* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const complex128* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;

/// Conversions of n neighbours.
void to_float(const half* from, float* to, std::int64_t n) noexcept;
void to_float(const bfloat16* from, float* to, std::int64_t n) noexcept;
void to_float(const std::int8_t* from, float* to, std::int64_t n) noexcept;
void to_narrow(const float* from, half* to, std::int64_t n) noexcept;
void to_narrow(const float* from, bfloat16* to, std::int64_t n) noexcept;
/// sums[i] += values[i], which are whole.
void add_whole(std::int32_t* sums, const float* values, std::int64_t n) noexcept;

}  // namespace troupe::blas
