// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What thread sanitizer must know to judge whole devices. Nothing in other builds.
#include <troupe/base/internal/sanitizers.hpp>

#if TROUPE_THREAD_SANITIZER
#include <cstdlib>
#include <string>

// Neither OpenBLAS nor the loader is built with the sanitizer, so it does not see their locks. And it does not see that
// progress, mapped once by the device and once by a worker that is a thread, is one and the same word, which orders
// what that worker has written before what the program itself reads there.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:libopenblas\nrace:_dl_close_worker\nrace:_dl_open\n"
         "race:interop.test.cpp\n";
}

// A process waits for a second before it ends, to see races then. These tests start thousands of them.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "atexit_sleep_ms=0"; }

namespace {
[[maybe_unused]] const bool workers_do_not_wait_either = [] {
  const char* set = std::getenv("TSAN_OPTIONS");
  return ::setenv("TSAN_OPTIONS", ((set != nullptr ? std::string(set) + ":" : "") + "atexit_sleep_ms=0").c_str(), 1) ==
         0;
}();
}  // namespace
#endif
