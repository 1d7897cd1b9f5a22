// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernel in vendor_groups.cu. Compiled by the host compiler and nvcc.
namespace troupe::cutlass::kernel_arguments {

/// A matrix of each group.
struct grouped_matrix {
  std::uint64_t first;  ///< address of that of the first group, whose first row is 0
  std::int64_t row,
      group;          ///< bytes from row to row of all groups, 0 if groups have no rows in it; and from group to group
  std::int64_t line;  ///< elements
  std::uint64_t* addresses;  ///< to write: one for each group
  std::int64_t* lines;
};
/// The lists that a grouped product of CUTLASS reads, made from sizes in memory.
struct vendor_groups {
  const std::int32_t* sizes;
  std::int32_t* wrong;  ///< where the first wrong group and its size are written; null: nowhere
  std::int64_t rows;    ///< number of rows: of all groups if they are packed, or of each
  std::int32_t groups, n, k, packed;
  std::int32_t* shapes;  ///< to write: m, n, k of each group
  grouped_matrix matrices[4];
};

}  // namespace troupe::cutlass::kernel_arguments
