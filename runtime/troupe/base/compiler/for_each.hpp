// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For sources of this repository: not installed, and not included by any installed header.
#pragma once

/// Expands to MACRO(FIRST, x) for each x of the list, which has at most 64 elements. FIRST can be a pair (A, B): then
/// `TROUPE_FIRST_OF FIRST` expands to A.
#define TROUPE_FOR_EACH(MACRO, FIRST, ...) __VA_OPT__(TROUPE_AGAIN(TROUPE_FOR_ONE(MACRO, FIRST, __VA_ARGS__)))
#define TROUPE_FOR_ONE(MACRO, FIRST, ONE, ...) \
  MACRO(FIRST, ONE) __VA_OPT__(TROUPE_FOR_REST TROUPE_LATER(MACRO, FIRST, __VA_ARGS__))
#define TROUPE_FOR_REST() TROUPE_FOR_ONE
#define TROUPE_LATER ()
#define TROUPE_AGAIN(...) TROUPE_AGAIN_4(TROUPE_AGAIN_4(TROUPE_AGAIN_4(TROUPE_AGAIN_4(__VA_ARGS__))))
#define TROUPE_AGAIN_4(...) TROUPE_AGAIN_16(TROUPE_AGAIN_16(TROUPE_AGAIN_16(TROUPE_AGAIN_16(__VA_ARGS__))))
#define TROUPE_AGAIN_16(...) TROUPE_AGAIN_64(TROUPE_AGAIN_64(TROUPE_AGAIN_64(TROUPE_AGAIN_64(__VA_ARGS__))))
#define TROUPE_AGAIN_64(...) __VA_ARGS__
#define TROUPE_FIRST_OF(ONE, ...) ONE
#define TROUPE_SECOND_OF(ONE, ...) __VA_ARGS__
