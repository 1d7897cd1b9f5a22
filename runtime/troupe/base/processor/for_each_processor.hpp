// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/sanitizers.hpp>

/// Compiles a function, with its loops, for several kinds of processor; the version that fits is selected when the
/// engine is loaded. Functions that it calls must be TROUPE_INLINE, so that they are compiled with it. Has no effect
/// under the thread sanitizer, which would instrument the code that selects the version, and that runs before the
/// sanitizer is loaded; and with clang, which (19) does not emit inline functions that only such functions use.
#if defined(__x86_64__) && !TROUPE_THREAD_SANITIZER && !defined(__clang__)
#define TROUPE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_FOR_EACH_PROCESSOR
#endif
#define TROUPE_INLINE __attribute__((always_inline)) inline
