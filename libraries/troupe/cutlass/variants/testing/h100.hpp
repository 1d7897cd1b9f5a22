// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/gpu_properties.hpp>

namespace troupe::cutlass::testing {

/// The properties of an H100.
inline const cuda::gpu_properties h100{.capability = 90,
                                       .multiprocessors = 132,
                                       .shared_bytes = 227 * 1024,
                                       .l2_bytes = 50 << 20,
                                       .gigahertz = 1.98,
                                       .memory_bytes_per_ns = 3350,
                                       .name = "a test's"};

}  // namespace troupe::cutlass::testing
