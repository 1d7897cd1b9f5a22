// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/sanitizers.hpp>

/// Compiles a function with our own loops for several kinds of processor; the fitting version is selected when the
/// engine is loaded. Functions that it calls must be TROUPE_INLINE, to be compiled with it. Not under thread sanitizer,
/// which instruments the selecting code, though that runs before the sanitizer is loaded.
#if defined(__x86_64__) && !TROUPE_THREAD_SANITIZER
#define TROUPE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_FOR_EACH_PROCESSOR
#endif
#define TROUPE_INLINE __attribute__((always_inline)) inline
