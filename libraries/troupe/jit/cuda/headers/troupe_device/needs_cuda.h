// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe_device {

template <class...>
inline constexpr bool not_without_cuda = false;

}  // namespace troupe_device

// A class that is libcu++'s, where that is not installed.
#define TROUPE_NEEDS_CUDA(name)                                                             \
  template <class... T>                                                                     \
  class name {                                                                              \
    static_assert(::troupe_device::not_without_cuda<T...>,                                  \
                  "std::" #name                                                             \
                  " comes with the headers of CUDA; install them, or name their folder in " \
                  "TROUPE_CUDA_INCLUDE");                                                   \
  };
