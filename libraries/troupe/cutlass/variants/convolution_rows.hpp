// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/convolution_operands.hpp>
#include <vector>

/// Images of few channels: what a row of a window sees, of all channels, lies together in memory if rows have their
/// padding and a channel more or two. So a row is one element of a filter with more channels.
namespace troupe::cutlass {

/// Returns true if rows of windows may be seen as channels, and that may be faster.
bool has_rows_as_channels(const convolution_problem& p);

/// The same convolution of tensors in other memory, and what is copied before and after it.
struct convolution_of_rows {
  convolution_problem problem;
  std::vector<tensor_copy> before, after;
  std::uint64_t bytes = 0;  ///< of memory
};
convolution_of_rows rows_as_channels(const convolution_problem& p, std::uint64_t memory);

}  // namespace troupe::cutlass
