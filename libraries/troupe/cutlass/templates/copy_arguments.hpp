// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::cutlass::kernels {

/// A copy of elements from one order in memory to another: see ordered_copy.cuh. Uses only built-in types, as
/// arguments.hpp does.
struct copy_arguments {
  static constexpr int axes = 6;
  unsigned long long from, to;
  long long from_strides[axes], to_strides[axes];  ///< in elements
  int extents[axes];                               ///< extents that are written
  int zeros_before[axes];                          ///< zeros that are written before the elements that are read
  int inside[axes];                                ///< extents that are read; beyond them zeros are written
  /// Not 0: the source is contiguous along axis 0, the target along axis 1.
  int transposes;
  int reserved;
};

}  // namespace troupe::cutlass::kernels
