// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::cutlass::kernels {

/// A copy of elements from one order in memory to another: see ordered_copy.cuh. Has built-in types only, like
/// arguments.hpp.
struct copy_arguments {
  static constexpr int axes = 6;
  unsigned long long from, to;
  long long from_strides[axes], to_strides[axes];  ///< in elements
  int extents[axes];                               ///< extents that are written
  int zeros_before[axes];                          ///< zeros that are written before what is read
  int inside[axes];                                ///< extents that are read; beyond them zeros are written
  /// Not 0: elements are contiguous along axis 0 where they are read, along axis 1 where they are written.
  int transposes;
  int reserved;
};

}  // namespace troupe::cutlass::kernels
