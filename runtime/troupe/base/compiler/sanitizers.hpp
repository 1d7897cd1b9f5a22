// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__clang__)
// For functions that call functions of a plug-in: clang takes the plug-in's types, which have the same layout, for
// others.
#define TROUPE_CALLS_OTHER_PROGRAMS __attribute__((no_sanitize("function")))
#else
#define TROUPE_CALLS_OTHER_PROGRAMS
#endif

// 1 if this build has the address or the thread sanitizer, otherwise 0. Tests the compiler first, because headers of
// some systems define `__has_feature` as 0 for g++.
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
