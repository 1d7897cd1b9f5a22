// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe_device {

template <class...>
inline constexpr bool not_without_cuda = false;

}  // namespace troupe_device

// Declares a class of libcu++ that is not installed.
#define TROUPE_NEEDS_CUDA(name)                                                             \
  template <class... T>                                                                     \
  class name {                                                                              \
    static_assert(::troupe_device::not_without_cuda<T...>,                                  \
                  "std::" #name                                                             \
                  " is part of CUDA's headers; install them, or name their folder in " \
                  "TROUPE_CUDA_INCLUDE");                                                   \
  };
