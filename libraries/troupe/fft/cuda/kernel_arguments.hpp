// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What kernels.cu is launched with; compiled by both compilers.
namespace troupe::fft::kernel_arguments {

/// Element i of those that lie side by side, the batch first, lies at the sum of its coordinates times `step`.
struct places {
  std::uint64_t n[4], step[4];
  std::uint64_t count;  ///< of elements
  std::int32_t dense;   ///< 1: place i is i
};

/// side[i] = elements[place(i)], converted
struct gathering {
  const void* elements;
  void* side;
  places where;
};
/// elements[place(i)] = side[i] * factor, converted
struct scattering {
  const void* side;
  void* elements;
  places where;
  double factor;
};
/// elements[place(i)] *= factor
struct scaling {
  void* elements;
  places where;
  double factor;
};
/// Some equal requests: member m has `each` elements without gaps at members[m], and at side + m * each.
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
