// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that a GPU lacks. They are declared because host functions stand beside kernels and are compiled too. If a
// kernel calls one, it ends like a failed assertion that names the function and the place.
#pragma once

extern "C++" {  // the #include may be inside extern "C"
namespace troupe_device {

template <class = void>
[[noreturn]] __noinline__ void end_as_host_only(const char* function, const char* file, unsigned line) {
  __assertfail("only a host has this function", file, line, function, sizeof(char));
  __trap();
}

}  // namespace troupe_device
}  // extern "C++"

#define TROUPE_HOST_CALL const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
// Templates, so that functions of the source with the same names take precedence.
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
