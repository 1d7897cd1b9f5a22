// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// clock is built into NVRTC and counts the cycles of a multiprocessor.
#pragma once
#include "troupe_device/host_only.h"

#define CLOCKS_PER_SEC 1000000
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

typedef long long time_t;  // as in libcu++
typedef int clockid_t;
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};

extern "C++" {  // the #include may be inside extern "C"

template <class Anything = void>
constexpr double difftime(time_t later, time_t earlier) {
  return static_cast<double>(later - earlier);
}
TROUPE_HOST_FUNCTION(time_t, time, time_t*)
TROUPE_HOST_FUNCTION(int, clock_gettime, clockid_t, timespec*)
TROUPE_HOST_FUNCTION(int, nanosleep, const timespec*, timespec*)
TROUPE_HOST_FUNCTION(tm*, localtime, const time_t*)
TROUPE_HOST_FUNCTION(tm*, gmtime, const time_t*)
TROUPE_HOST_FUNCTION(time_t, mktime, tm*)
TROUPE_HOST_FUNCTION(char*, ctime, const time_t*)
TROUPE_HOST_FUNCTION(char*, asctime, const tm*)
TROUPE_HOST_FUNCTION(size_t, strftime, char*, size_t, const char*, const tm*)

}  // extern "C++"
