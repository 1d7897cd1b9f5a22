// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first header of all: a compiler that is too old is told so, instead of failing at what it does not know.
// cmake/troupe_check_compiler.cmake says the same while a project is configured.
#if defined(__clang__)
#if __clang_major__ < 16
#define TROUPE_COMPILER_IS_TOO_OLD
#endif
#elif defined(__GNUC__) && __GNUC__ < 12
#define TROUPE_COMPILER_IS_TOO_OLD
#endif

// After #error a compiler goes on, and complains of all that follows; after a missing file it stops.
#ifdef TROUPE_COMPILER_IS_TOO_OLD
#error Troupe needs g++ 12 or clang 16, or a later one: compile with CXX=g++-12, for example
#include <troupe/this_compiler_is_too_old>
#elif __cplusplus < 202002L
#error Troupe needs C++20: compile with -std=c++20, or link troupe::troupe in CMake, which asks for it
#include <troupe/this_is_not_cplusplus_20>
#endif
