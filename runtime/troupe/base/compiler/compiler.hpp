// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included first, so that a compiler that is too old stops with a clear message instead of unrelated errors.
// cmake/troupe_check_compiler.cmake makes the same check when a project is configured.
#if defined(__clang__)
#if __clang_major__ < 16
#define TROUPE_COMPILER_IS_TOO_OLD
#endif
#elif defined(__GNUC__) && __GNUC__ < 12
#define TROUPE_COMPILER_IS_TOO_OLD
#endif

// Compilers continue after #error and report follow-up errors; a missing include file stops them.
#ifdef TROUPE_COMPILER_IS_TOO_OLD
#error Troupe needs g++ 12 or clang 16, or a later one: compile with CXX=g++-12, for example
#include <troupe/this_compiler_is_too_old>
#elif __cplusplus < 202002L
#error Troupe needs C++20: compile with -std=c++20, or link troupe::troupe in CMake, which asks for it
#include <troupe/this_is_not_cplusplus_20>
#endif
