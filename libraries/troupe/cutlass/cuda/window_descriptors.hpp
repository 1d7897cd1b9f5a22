// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <troupe/base/result.hpp>
#include <troupe/cutlass/variants/window_maps.hpp>

namespace troupe::cutlass {

/// Returns the type that the tensor memory accelerator copies numbers as.
CUtensorMapDataType map_type(dtype t) noexcept;

/// Writes the descriptor of a convolution's factor.
result<void> describe(const window_map& m, kernels::tensor_map& to);

}  // namespace troupe::cutlass
