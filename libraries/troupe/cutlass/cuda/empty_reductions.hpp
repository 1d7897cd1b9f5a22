// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <troupe/base/result.hpp>
#include <troupe/cutlass/problems/problem.hpp>

namespace troupe::cutlass {

/// Writes the reductions of a result without elements: minus infinity for a maximum, otherwise 0.
result<void> write_empty_reductions(const problem& p, CUstream stream);

}  // namespace troupe::cutlass
