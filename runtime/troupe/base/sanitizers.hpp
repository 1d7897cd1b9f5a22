// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__clang__)
// For a function that calls a function of another program, whose types have the same layout but differ to clang.
#define TROUPE_CALLS_OTHER_PROGRAMS __attribute__((no_sanitize("function")))
#else
#define TROUPE_CALLS_OTHER_PROGRAMS
#endif

// Whether this build has the address or the thread sanitizer: 0 or 1. Asks for the compiler, not for `__has_feature`:
// headers of some systems define that to 0 for g++.
#if defined(__clang__)
#define TROUPE_ADDRESS_SANITIZER (__has_feature(address_sanitizer))
#define TROUPE_THREAD_SANITIZER (__has_feature(thread_sanitizer))
#else
#if defined(__SANITIZE_ADDRESS__)
#define TROUPE_ADDRESS_SANITIZER 1
#else
#define TROUPE_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#define TROUPE_THREAD_SANITIZER 1
#else
#define TROUPE_THREAD_SANITIZER 0
#endif
#endif
