// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/cutlass/variants/contiguous_axis.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_kind.hpp>

namespace troupe::cutlass {

/// A factor of the kernel: lines of the first factor are rows of its result, lines of the second its columns. A byte of
/// f4e2m1x2 is two terms of a line; strides then count bytes.
struct ampere_factor {
  dtype type{};
  contiguous_axis contiguous = contiguous_axis::k;
  /// Bytes to which the address and all strides except a stride of 1 are aligned; also the offset of the right half of
  /// pairs, and the channels of a convolution.
  int alignment = 16;
  dtype scales = dtype{};  ///< type of the scales; dtype{}: none
};

/// Template arguments of templates/ampere.cuh.
struct ampere_variant {
  ampere_factor first, second;
  dtype result{};
  int result_access = 0;  ///< see memory_kind
  int tile_m = 128, tile_n = 128, warps_m = 2, warps_n = 4, stages = 3;
  int depth = 0;   ///< terms of a stage; 0: the default for the types
  int blocks = 1;  ///< blocks that a multiprocessor must hold at once
  /// True to multiply as floats by ordinary arithmetic, for types whose values a float holds; false to use the tensor
  /// cores.
  bool exact = false;
  /// Number of terms after which sums of the tensor cores are scaled and added to a float; 0: never. It divides the
  /// number of terms of a block of scales.
  int promotion_k = 0;
  bool divides = false, paired = false;
  bool grouped = false;  ///< true if the products are groups of rows
  convolution_kind convolution = convolution_kind::none;
  int rank = 3;                 ///< number of spatial axes of a convolution
  bool strided_result = false;  ///< true if rows of the result are positions with arbitrary strides
};

/// Returns true if the tensor cores multiply these types, or one is widened to the other.
bool has_tensor_cores(dtype first, dtype second) noexcept;
int depth_of(const ampere_variant& c) noexcept;
int threads_of(const ampere_variant& c) noexcept;
/// Returns the bytes of shared memory that a block needs.
int shared_bytes_of(const ampere_variant& c) noexcept;
/// Returns true if elements of factor `which`, 1 or 2, are copied to shared memory through registers.
bool passes_registers(const ampere_variant& c, int which) noexcept;
/// Returns the number of words of the next stage that a thread keeps in registers: unaligned elements, and 1-byte
/// elements of factors with contiguous lines.
int words_in_registers(const ampere_variant& c) noexcept;
/// Returns the reason why the template has no such kernel, or "".
std::string_view error_of(const ampere_variant& c) noexcept;

/// Returns the source of the kernel; `epilogue_text` is the result of `epilogue_source`.
std::string text_of(const ampere_variant& c, const std::string& epilogue_text);

}  // namespace troupe::cutlass
