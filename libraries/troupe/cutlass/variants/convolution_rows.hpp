// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolution_operands.hpp>
#include <vector>

/// Images of few channels: the elements of a row of a window, of all channels, are contiguous in memory if rows have
/// their padding and one or two more channels. So a row becomes one element of a filter with more channels.
namespace troupe::cutlass {

/// Returns true if rows of windows can be treated as channels, and that may be faster.
bool has_rows_as_channels(const convolution_problem& p);

/// The same convolution of tensors in other memory, and the copies before and after it.
struct convolution_of_rows {
  convolution_problem problem;
  std::vector<tensor_copy> before, after;
  std::uint64_t bytes = 0;  ///< memory
};
convolution_of_rows rows_as_channels(const convolution_problem& p, std::uint64_t memory);

}  // namespace troupe::cutlass
