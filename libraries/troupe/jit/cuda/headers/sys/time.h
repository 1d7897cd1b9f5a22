// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "../time.h"

struct timeval {
  time_t tv_sec;
  long tv_usec;
};
struct timezone {
  int tz_minuteswest, tz_dsttime;
};
extern "C++" {  // the #include may be inside extern "C"

TROUPE_HOST_FUNCTION(int, gettimeofday, timeval*, void*)

}  // extern "C++"
