// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library's <math.h> as of C++17. C++20 adds lerp to the global namespace, where CUDA sources often define a
// function with the same name and type. std::lerp is kept.
#if !defined(TROUPE_CUDA_MATH_HEADER_H) && __has_include(<bits/c++config.h>)
#define TROUPE_CUDA_MATH_HEADER_H
#pragma GCC system_header

#include <cmath>

#define _GLIBCXX_MATH_H 1  // keeps libstdc++'s own header from being read as well

using std::abs, std::acos, std::asin, std::atan, std::atan2, std::ceil, std::cos, std::cosh, std::exp, std::fabs,
    std::floor, std::fmod, std::frexp, std::ldexp, std::log, std::log10, std::modf, std::pow, std::sin, std::sinh,
    std::sqrt, std::tan, std::tanh;
using std::acosh, std::asinh, std::atanh, std::cbrt, std::copysign, std::erf, std::erfc, std::exp2, std::expm1,
    std::fdim, std::fma, std::fmax, std::fmin, std::hypot, std::ilogb, std::lgamma, std::llrint, std::llround,
    std::log1p, std::log2, std::logb, std::lrint, std::lround, std::nearbyint, std::nextafter, std::nexttoward,
    std::remainder, std::remquo, std::rint, std::round, std::scalbln, std::scalbn, std::tgamma, std::trunc;
using std::fpclassify, std::isfinite, std::isgreater, std::isgreaterequal, std::isinf, std::isless, std::islessequal,
    std::islessgreater, std::isnan, std::isnormal, std::isunordered, std::signbit;

#elif !__has_include(<bits/c++config.h>)
#include_next <math.h>
#endif
