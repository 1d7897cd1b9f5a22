// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What sanitizers need to know about whole devices. Empty in other builds.
#include <troupe/base/compiler/sanitizers.hpp>

#if TROUPE_THREAD_SANITIZER || TROUPE_ADDRESS_SANITIZER
#include <cstdlib>
#include <string>

namespace {
// The options of this program, and of the workers that it starts.
[[maybe_unused]] bool also_for_workers(const char* variable, const char* options) {
  const char* set = std::getenv(variable);
  return ::setenv(variable, ((set != nullptr ? std::string(set) + ":" : "") + options).c_str(), 1) == 0;
}
}  // namespace
#endif

#if TROUPE_THREAD_SANITIZER || TROUPE_ADDRESS_SANITIZER
// The sanitizer must not intercept the signals that kill a worker: tests expect their names.
#define TROUPE_LEAVE_SIGNALS \
  "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:use_sigaltstack=0"
#endif

#if TROUPE_ADDRESS_SANITIZER
constexpr const char* asan_options = TROUPE_LEAVE_SIGNALS;
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return asan_options; }

namespace {
[[maybe_unused]] const bool workers_die_as_ever = also_for_workers("ASAN_OPTIONS", asan_options);
}  // namespace
#endif

#if TROUPE_THREAD_SANITIZER
// By default a process waits a second before it ends, to detect races. These tests start thousands of processes.
constexpr const char* tsan_options = "atexit_sleep_ms=0:" TROUPE_LEAVE_SIGNALS;
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return tsan_options; }

namespace {
[[maybe_unused]] const bool workers_end_as_ever = also_for_workers("TSAN_OPTIONS", tsan_options);
}  // namespace
#endif
