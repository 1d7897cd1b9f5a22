// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/cutlass/cells/convolution_kind.hpp>

namespace troupe::cutlass {

/// What templates/hopper.cuh is told when it is compiled. `first` and `second` are the factors as the kernel sees them:
/// lines of the first are rows of its result.
struct hopper_cell {
  dtype first{}, second{}, result{};
  int tile_m = 128, tile_n = 256, stages = 3, cluster_m = 1, cluster_n = 1;
  bool ping_pong = false, by_lines_1 = false, by_lines_2 = false, divides = false, staged = false, grouped = false;
  int promoted = 0;                        ///< instructions after which sums are added to a float; 0: at the end
  dtype first_scales{}, second_scales{};   ///< of blocks
  bool scale_for_each_column = false;      ///< of the second factor; otherwise one for all columns of a tile
  int result_way = 0;                      ///< see memory_kind
  convolution window = convolution::none;  ///< what the accelerator gathers
  int rank = 3;                            ///< of a convolution: its indexes of space
  bool strided_result = false;             ///< rows of the result are positions that lie anywhere
  int groups = 2;                          ///< of four warps that multiply
  bool shares_terms = false;               ///< all groups have the same rows, and take stages in turn
  int slices = 1;                          ///< of 64 terms in a stage, if the first factor is narrower than the second
  int scaled_numbers = 0;                  ///< instructions that share scales, if widened numbers are scaled
  bool crossed = false;                    ///< rows of the result are lines of the second factor
  bool loads = false;                      ///< its epilogue reads matrices

  /// Returns true if the first factor is widened to the type of the second.
  bool is_mixed() const noexcept { return bytes_of(first) == 1 && bytes_of(second) == 2; }
};

int threads_of(const hopper_cell& c) noexcept;
/// Terms of a stage: 128 bytes of a line.
int depth_of(const hopper_cell& c) noexcept;
/// Columns of an instruction.
int width_of(const hopper_cell& c) noexcept;
/// Bytes of shared memory that a block needs.
int shared_bytes_of(const hopper_cell& c) noexcept;
/// Returns true if the template can be made so.
bool can_be(const hopper_cell& c, bool paired, std::int64_t shared_bytes) noexcept;

/// Returns the source of a kernel named `troupe_cutlass_cell`; `tail` is the epilogue: see functor.hpp.
std::string text_of(const hopper_cell& c, const std::string& tail);

}  // namespace troupe::cutlass
