// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/cutlass/cells/cell_text.hpp>
#include <troupe/cutlass/cells/chip.hpp>
#include <troupe/cutlass/templates/copy_arguments.hpp>

namespace troupe::cutlass {

/// A copy of a tensor to another order in memory.
struct tensor_copy {
  /// Along one index: what is written, and, if more is written than is read, how much is read, and how much before it
  /// is 0. So is the rest.
  struct along {
    std::int64_t extent = 1, inside = 1, from = 0, to = 0, before = 0;
  };
  std::uint64_t from = 0, to = 0;
  std::size_t element_bytes = 1;
  std::array<along, kernels::copy_arguments::indexes> indexes{};

  std::int64_t elements() const noexcept;
  /// What the cost model expects.
  double microseconds(const chip& on) const noexcept;
};

/// What the kernel is launched with: indexes that are one are merged.
kernels::copy_arguments arguments_of(const tensor_copy& c) noexcept;
/// How many blocks have work at once.
std::int64_t blocks_of(const kernels::copy_arguments& a) noexcept;

/// The kernel for elements of 1, 2, 4 or 8 bytes.
cell_text copy_text(std::size_t element_bytes);

}  // namespace troupe::cutlass
