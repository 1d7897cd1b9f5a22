// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU cannot do, under its name, because functions for the host stand beside kernels: those are compiled as
// well, and a kernel that comes to such a call ends as with a failed assertion, which says what was called and where.
#pragma once

extern "C++" {  // whatever stands around the #include
namespace troupe_device {

template <class = void>
[[noreturn]] __noinline__ void end_as_host_only(const char* function, const char* file, unsigned line) {
  __assertfail("only a host has this function", file, line, function, sizeof(char));
  __trap();
}

}  // namespace troupe_device
}  // extern "C++"

#define TROUPE_HOST_CALL const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
// As templates they give way to functions that the source has by these names.
#define TROUPE_HOST_FUNCTION_0(type, name)                          \
  template <class Anything = void>                                  \
  type name(TROUPE_HOST_CALL) {                                     \
    ::troupe_device::end_as_host_only<Anything>(#name, file, line); \
  }
#define TROUPE_HOST_FUNCTION(type, name, ...)                       \
  template <class Anything = void>                                  \
  type name(__VA_ARGS__, TROUPE_HOST_CALL) {                        \
    ::troupe_device::end_as_host_only<Anything>(#name, file, line); \
  }
