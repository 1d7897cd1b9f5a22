// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolutions/convolution_operands.hpp>
#include <vector>

/// Images of few channels. If rows are stored with their padding and the channels are padded so that windows are
/// aligned, all elements of a window's row, in all channels, are contiguous. They are treated as the channels of one
/// element, of a filter that is one element wide.
namespace troupe::cutlass {

/// Returns true if rows of windows can be treated as channels and this may be faster.
bool has_rows_as_channels(const convolution_problem& p);

/// A convolution that is equivalent to another one, on copies of its tensors.
struct convolution_of_rows {
  convolution_problem problem;
  std::vector<tensor_copy> before, after;  ///< copies before and after the convolution
  std::uint64_t bytes = 0;                 ///< memory of the copied tensors
};
/// Returns the convolution that treats rows of windows as channels, with its tensors at address `memory`.
convolution_of_rows rows_as_channels(const convolution_problem& p, std::uint64_t memory);

}  // namespace troupe::cutlass
