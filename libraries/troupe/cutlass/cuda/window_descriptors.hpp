// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <troupe/base/result.hpp>
#include <troupe/cutlass/variants/convolutions/window_maps.hpp>

namespace troupe::cutlass {

/// Returns the tensor memory accelerator's name of an element type.
CUtensorMapDataType map_type(dtype t) noexcept;

/// Writes the accelerator's descriptor of a factor of a convolution.
result<void> describe(const window_map& m, kernels::tensor_map& to);

}  // namespace troupe::cutlass
