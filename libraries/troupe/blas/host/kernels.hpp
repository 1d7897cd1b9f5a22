// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/half.hpp>

/// Our own loops, compiled for several kinds of processors; the version for this processor is selected when the engine
/// is loaded.
namespace troupe::blas {

/// Returns the Euclidean norm, scaled so that no square overflows or underflows double.
double scaled_norm(const float* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const double* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const complex64* x, std::int64_t n, std::int64_t inc) noexcept;
double scaled_norm(const complex128* x, std::int64_t n, std::int64_t inc) noexcept;

/// Returns the index of the largest or smallest magnitude among x[0], x[inc] ...: the first such index, or the last.
/// NaN is ignored; if all are NaN, returns the first index, or the last. `inc` is positive.
std::int64_t find_extremum(const float* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const double* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const complex64* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;
std::int64_t find_extremum(const complex128* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept;

/// Converts n adjacent elements.
void to_float(const half* from, float* to, std::int64_t n) noexcept;
void to_float(const bfloat16* from, float* to, std::int64_t n) noexcept;
void to_float(const std::int8_t* from, float* to, std::int64_t n) noexcept;
void to_narrow(const float* from, half* to, std::int64_t n) noexcept;
void to_narrow(const float* from, bfloat16* to, std::int64_t n) noexcept;
/// Adds values[i] to sums[i]. The values are whole numbers.
void add_whole(std::int32_t* sums, const float* values, std::int64_t n) noexcept;

}  // namespace troupe::blas
