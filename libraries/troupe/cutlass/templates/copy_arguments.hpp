// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::cutlass::kernels {

/// A copy of elements from one order in memory to another: see ordered_copy.cuh. As arguments.hpp it has built-in types
/// only.
struct copy_arguments {
  static constexpr int indexes = 6;
  unsigned long long from, to;
  long long from_strides[indexes], to_strides[indexes];  ///< in elements
  int extents[indexes];                                  ///< of what is written
  int before[indexes];                                   ///< zeros that are written before what is read
  int inside[indexes];                                   ///< of what is read; beyond it zeros are written
  int transposes;  ///< not 0: elements along index 0 are neighbours where they are read, along 1 where they are written
  int reserved;
};

}  // namespace troupe::cutlass::kernels
