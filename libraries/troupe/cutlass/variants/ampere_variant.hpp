// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/cutlass/variants/contiguous_axis.hpp>
#include <troupe/cutlass/variants/convolution_kind.hpp>

namespace troupe::cutlass {

/// A factor of the kernel: lines of the first are rows of its result, those of the second its columns. Two numbers of 4
/// bits in a byte are two terms of a line; strides then count bytes.
struct ampere_factor {
  dtype type{};
  contiguous_axis contiguous = contiguous_axis::k;
  /// Bytes to which the first element and all strides but that of 1 are aligned; of pairs also the offset from the left
  /// to the right half, of convolutions also the channels.
  int alignment = 16;
  dtype scales = dtype{};  ///< types of the blocks' scales, if it has any
};

/// Template arguments of templates/ampere.cuh.
struct ampere_variant {
  ampere_factor first, second;
  dtype result{};
  int result_access = 0;  ///< see memory_kind
  int tile_m = 128, tile_n = 128, warps_m = 2, warps_n = 4, stages = 3;
  int depth = 0;   ///< terms of a stage; 0: as many as suit the types
  int blocks = 1;  ///< blocks that a multiprocessor must hold at once
  /// Multiplies as floats, not by the tensor cores. It takes every pair of types that a float holds.
  bool exact = false;
  /// Number of terms after which sums of the tensor cores are scaled and added to a float; 0: never. With scales, it
  /// divides the terms of a block.
  int promotion_k = 0;
  bool divides = false, paired = false;
  bool grouped = false;  ///< its products are groups of rows
  convolution window = convolution::none;
  int rank = 3;                 ///< spatial axes of a convolution
  bool strided_result = false;  ///< rows of the result are positions with any strides
};

/// Returns true if the tensor cores multiply these types, or one is widened to the other.
bool has_tensor_cores(dtype first, dtype second) noexcept;
int depth_of(const ampere_variant& c) noexcept;
int threads_of(const ampere_variant& c) noexcept;
/// Returns the bytes of shared memory that a block needs.
int shared_bytes_of(const ampere_variant& c) noexcept;
/// Returns true if numbers of a factor, 1 or 2, pass through registers on their way to shared memory.
bool passes_registers(const ampere_variant& c, int which) noexcept;
/// Returns how many words of the next stage a thread keeps in registers: numbers that are not aligned, and bytes whose
/// lines are contiguous.
int words_in_registers(const ampere_variant& c) noexcept;
/// Returns why there is no such kernel, or nothing.
std::string_view error_of(const ampere_variant& c) noexcept;

/// Returns the source of a kernel named `troupe_cutlass_cell`; `tail` is the epilogue: see epilogue_source.hpp.
std::string text_of(const ampere_variant& c, const std::string& tail);

}  // namespace troupe::cutlass
