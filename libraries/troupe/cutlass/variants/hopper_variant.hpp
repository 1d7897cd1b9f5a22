// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_kind.hpp>

namespace troupe::cutlass {

/// Template arguments of templates/hopper.cuh. `first` and `second` are the types of the kernel's factors: lines of the
/// first factor are rows of its result, unless `crossed`.
struct hopper_variant {
  dtype first{}, second{}, result{};
  int tile_m = 128, tile_n = 256, stages = 3, cluster_m = 1, cluster_n = 1;
  bool ping_pong = false, by_lines_1 = false, by_lines_2 = false, divides = false, staged = false, grouped = false;
  int promoted = 0;                       ///< number of instructions after which sums are added to a float; 0: never
  dtype first_scales{}, second_scales{};  ///< types of the scales; dtype{}: none
  bool scale_for_each_column = false;     ///< true if columns of an instruction may have different scales
  int result_access = 0;                  ///< see memory_kind
  convolution_kind convolution = convolution_kind::none;  ///< the convolution that the accelerator gathers
  int rank = 3;                                           ///< number of spatial axes of a convolution
  bool strided_result = false;  ///< true if rows of the result are positions with arbitrary strides
  int groups = 2;               ///< number of groups of four warps that multiply
  bool splits_k = false;        ///< true if all groups have the same rows and take stages in turn
  int slices = 1;          ///< number of slices of 64 terms in a stage, if the first factor is narrower than the second
  int scaled_numbers = 0;  ///< number of instructions that share scales of widened elements; 0: no scaled elements
  bool crossed = false;    ///< true if rows of the result are lines of the second factor
  bool loads = false;      ///< true if the epilogue loads matrices

  /// Returns true if the first factor is widened to the type of the second.
  bool is_mixed() const noexcept { return bytes_of(first) == 1 && bytes_of(second) == 2; }
};

int threads_of(const hopper_variant& c) noexcept;
/// Returns the number of terms of a stage: those in 128 bytes of a line, or 64 for each slice.
int depth_of(const hopper_variant& c) noexcept;
/// Returns the number of columns that one instruction multiplies.
int width_of(const hopper_variant& c) noexcept;
/// Returns the bytes of shared memory that a block needs.
int shared_bytes_of(const hopper_variant& c) noexcept;
/// Returns true if the template has such a kernel.
bool can_be(const hopper_variant& c, bool paired, std::int64_t shared_bytes) noexcept;

/// Returns the source of the kernel; `epilogue_text` is the result of `epilogue_source`.
std::string text_of(const hopper_variant& c, const std::string& epilogue_text);

}  // namespace troupe::cutlass
