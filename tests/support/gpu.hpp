// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

namespace troupe {

/// Fails the test if a call of the driver has failed.
inline void must(CUresult r) {
  const char* name = nullptr;
  (void)::cuGetErrorName(r, &name);
  ASSERT_EQ(r, CUDA_SUCCESS) << "this test needs a GPU: " << (name != nullptr ? name : "an unknown error");
}

}  // namespace troupe
