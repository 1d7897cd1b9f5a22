// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifndef UTIL_H
#define UTIL_H

#include <sys/time.h>

static inline double seconds_now(void)
{
  struct timeval tv;
  gettimeofday(&tv, 0);
  return tv.tv_sec + 1e-6 * tv.tv_usec;
}

// after Park and Miller; with Schrage's method to avoid overflow
__device__ static inline double chance(int *seed)
{
  const int high = *seed / 127773, low = *seed % 127773;
  *seed = 16807 * low - 2836 * high;
  if (*seed < 0) *seed += 2147483647;
  return *seed / 2147483647.0;
}

#endif
