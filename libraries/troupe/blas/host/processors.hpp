// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/sanitizers.hpp>

/// For functions with loops of our own: they are compiled for several kinds of processor, and the one at hand is chosen
/// when the engine is loaded. What they call must be TROUPE_INLINE, to be compiled with them.
/// Not with the thread sanitizer, whose calls in the code that chooses would come before it has been loaded.
#if defined(__x86_64__) && !TROUPE_THREAD_SANITIZER
#define TROUPE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_FOR_EACH_PROCESSOR
#endif
#define TROUPE_INLINE __attribute__((always_inline)) inline
