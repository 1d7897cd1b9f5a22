// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::fft::kernel_arguments {

/// Maps the index i of an element, counted densely with the batch first, to its position: the sum of coordinates times
/// `step`.
struct places {
  std::uint64_t n[4], step[4];
  std::uint64_t count;  ///< number of elements
  std::int32_t dense;   ///< 1: the position of i is i
};

/// Computes side[i] = elements[position(i)], converted to float.
struct gathering {
  const void* elements;
  void* side;
  places where;
};
/// Computes elements[position(i)] = side[i] * factor, converted from float.
struct scattering {
  const void* side;
  void* elements;
  places where;
  double factor;
};
/// Computes elements[position(i)] *= factor.
struct scaling {
  void* elements;
  places where;
  double factor;
};
/// Copies between the members of a group and a batch. Member m has `each` contiguous elements at members[m], and in the
/// batch at side + m * each.
struct members_to_side {
  const void* const* members;
  void* side;
  std::uint64_t each;
};
struct side_to_members {
  const void* side;
  void* const* members;
  std::uint64_t each;
  double factor;
};

}  // namespace troupe::fft::kernel_arguments
