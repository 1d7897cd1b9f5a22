// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/cutlass/cells/convolution_kind.hpp>
#include <troupe/cutlass/cells/neighbours.hpp>

namespace troupe::cutlass {

/// A factor as the kernel sees it: lines of the first are rows of its result, those of the second its columns. Two
/// numbers of 4 bits in a byte are two terms of a line; distances then count bytes.
struct ampere_factor {
  dtype type{};
  neighbours in_memory = neighbours::terms;
  /// Bytes to which the first element and all distances are aligned, except from neighbour to neighbour; of pairs also
  /// the distance from the left to the right half, of convolutions also the channels.
  int alignment = 16;
  dtype scales = dtype{};  ///< of blocks, if it has any
};

/// What templates/ampere.cuh is told when it is compiled.
struct ampere_cell {
  ampere_factor first, second;
  dtype result{};
  int result_way = 0;  ///< see memory_kind
  int tile_m = 128, tile_n = 128, warps_m = 2, warps_n = 4, stages = 3;
  int depth = 0;   ///< terms of a stage; 0: as many as suit the types
  int blocks = 1;  ///< that a multiprocessor must have room for at once
  /// Multiplies as floats, not by the tensor cores. It takes every pair of types that a float holds.
  bool exact = false;
  /// After how many terms sums of the tensor cores are scaled, and added to a float; 0: never. With scales, it divides
  /// the terms of a block.
  int promoted_terms = 0;
  bool divides = false, paired = false;
  bool grouped = false;  ///< its products are groups of rows
  convolution window = convolution::none;
  int rank = 3;                 ///< of a convolution: its indexes of space
  bool strided_result = false;  ///< rows of the result are positions that lie anywhere
};

/// Returns true if the tensor cores multiply these types, or one is widened to the other.
bool has_tensor_cores(dtype first, dtype second) noexcept;
int depth_of(const ampere_cell& c) noexcept;
int threads_of(const ampere_cell& c) noexcept;
/// Bytes of shared memory that a block needs.
int shared_bytes_of(const ampere_cell& c) noexcept;
/// Returns true if numbers of a factor, 1 or 2, pass through registers on their way to shared memory.
bool passes_registers(const ampere_cell& c, int which) noexcept;
/// Returns how many words a thread has of the next stage on their way through registers: of numbers that are not
/// aligned, and of bytes whose lines are neighbours.
int words_in_registers(const ampere_cell& c) noexcept;
/// Returns why there is no such kernel, or nothing.
std::string_view error_of(const ampere_cell& c) noexcept;

/// Returns the source of a kernel named `troupe_cutlass_cell`; `tail` is the epilogue: see functor.hpp.
std::string text_of(const ampere_cell& c, const std::string& tail);

}  // namespace troupe::cutlass
