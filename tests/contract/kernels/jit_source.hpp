// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include "kernels.hpp"

/// Helpers for tests of jit.
namespace troupe::whole {

inline jit::recipe saxpy_recipe() {
  return {.source =
              "__device__ float table[16] = {1, 2, 3};\n"
              "__global__ void saxpy(float a, const float* x, float* y, int n) {\n"
              "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i < n) y[i] += a * x[i];\n"
              "}\n",
          .name = "saxpy.cu",
          .globals = {"table"}};
}

/// Returns text that no other run has.
inline std::string unique() {
  static int count = 0;
  return std::to_string(::getpid()) + "." + std::to_string(now_ns()) + "." + std::to_string(++count);
}

/// Caches compiled programs in the build folder instead of the user's home.
inline const bool cache_is_ours = ::setenv("TROUPE_CACHE", path_of("TROUPE_TEST_CACHE", TROUPE_TEST_CACHE), 1) == 0;

}  // namespace troupe::whole
