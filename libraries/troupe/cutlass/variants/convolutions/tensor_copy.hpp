// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/cutlass/templates/copy_arguments.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {

/// A copy of a tensor to another order in memory.
struct tensor_copy {
  /// One axis: `extent` elements are written, at stride `to`. The elements [zeros_before, zeros_before + inside) are
  /// read, at stride `from`; the others become 0.
  struct copied_axis {
    std::int64_t extent = 1, inside = 1, from = 0, to = 0, zeros_before = 0;
  };
  std::uint64_t from = 0, to = 0;
  std::size_t element_bytes = 1;
  std::array<copied_axis, kernels::copy_arguments::axes> axes{};

  std::int64_t elements() const noexcept;
  /// Returns the time that the cost model predicts.
  double microseconds(const cuda::gpu_properties& gpu) const noexcept;
};

/// Returns the kernel's arguments, with axes merged where possible.
kernels::copy_arguments arguments_of(const tensor_copy& c) noexcept;
/// Returns the maximum number of blocks that have work.
std::int64_t blocks_of(const kernels::copy_arguments& a) noexcept;

/// Returns the kernel for elements of 1, 2, 4 or 8 bytes.
variant_source copy_source(std::size_t element_bytes);

}  // namespace troupe::cutlass
