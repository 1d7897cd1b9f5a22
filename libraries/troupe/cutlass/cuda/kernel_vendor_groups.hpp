// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The arguments of the kernel in vendor_groups.cu. Compiled by the host compiler and nvcc.
namespace troupe::cutlass::kernel_arguments {

/// One operand: a matrix for each group.
struct grouped_matrix {
  std::uint64_t first;       ///< address of the first group's matrix
  std::int64_t row;          ///< bytes from row to row; 0 for B, whose rows do not belong to groups
  std::int64_t group;        ///< bytes from group to group; 0 if the groups are consecutive rows
  std::int64_t line;         ///< stride between lines, in elements
  std::uint64_t* addresses;  ///< result: the address of each group's matrix
  std::int64_t* lines;       ///< result: `line`, for each group
};
/// The lists that a grouped product of CUTLASS reads, and the sizes that they are made from.
struct vendor_groups {
  const std::int32_t* sizes;  ///< rows of each group
  std::int32_t* wrong;  ///< null, or receives the first group of a wrong size: its number, size and remaining rows
  std::int64_t rows;    ///< rows of all groups if they are packed, otherwise the largest number of rows of a group
  std::int32_t groups, n, k, packed;
  std::int32_t* shapes;  ///< result: m, n, k of each group
  grouped_matrix matrices[4];
};

}  // namespace troupe::cutlass::kernel_arguments
