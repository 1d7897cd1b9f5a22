// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For functions with loops of our own: they are compiled for several kinds of processor, and the one at hand is chosen
/// when the engine is loaded. What they call must be TROUPE_INLINE, to be compiled with them.
#if defined(__x86_64__)
#define TROUPE_FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TROUPE_FOR_EACH_PROCESSOR
#endif
#define TROUPE_INLINE __attribute__((always_inline)) inline
