// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <functional>
#include <troupe/cuda/scratch.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library_launch.hpp>
#include <troupe/cutlass/cuda/lane.hpp>
#include <troupe/cutlass/cuda/plans/variant_store.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_signature.hpp>

namespace troupe::cutlass {

/// An executable plan for products with one signature and one size. Launches `library` if it is set, otherwise
/// `kernel`.
struct execution_plan {
  plan_info info;
  std::optional<cutlass_library_execution_plan> library;
  kernel_signature signature;  ///< the kernel's signature, with the factors swapped or crossed as in the plan
  std::shared_ptr<const kernel_variant> kernel;
  bool swapped = false, crossed = false, along_n = false;
  std::array<matrix_map, 3> maps{};  ///< the factors and the result; no map if its type is `no_map`
  static constexpr std::uint32_t no_map = ~0u;
  hopper_variant hopper;  ///< set if the plan's family is hopper
  unsigned blocks = 0;
  int tiles_m = 0, tiles_n = 0, band = 1, undivided_tiles = 0, parts = 1, sharers = 0, stage_bytes = 0;
  std::uint64_t sums_bytes = 0, reduction_bytes = 0;
  unsigned reductions = 0;
  std::int64_t tiles = 0;      ///< number of tiles of blocks, or of clusters
  std::int64_t row_parts = 0;  ///< number of parts of rows, for partial results of reductions
  std::uint32_t arrivals = 0;  ///< number of counters of divided tiles

  std::uint64_t scratch_bytes() const noexcept { return library ? library->bytes : sums_bytes + reduction_bytes; }
};

/// Returns the public description of a plan and its kernel.
plan_info info_of(const candidate& c, kernel_source from, std::uint64_t workspace) noexcept;
/// Returns "12.34 us".
std::string in_microseconds(double us);

/// Returns the least scratch memory that a plan can need, as far as known without its kernel.
std::uint64_t fewest_scratch_bytes(const problem& p, const candidate& c) noexcept;

/// Makes the execution plan of a candidate; loads its kernel.
result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, variant_store& variants, compiling how);

/// Makes the execution plan of a candidate with the given text of its kernel. If `gathered` is set, the kernel gathers
/// the operands of that convolution.
result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, const variant_source& text,
                                                          variant_store& variants, compiling how,
                                                          const convolution_signature* gathered = nullptr);

/// The overlap of a kernel with the previous kernel in the stream.
enum class overlap : std::uint8_t {
  none,          ///< the kernel begins when the other has ended
  early_launch,  ///< the kernel begins early, and waits until the other has ended
  independent,   ///< the kernel does not wait, because it neither reads nor writes what the other kernel writes
};

/// Launches a product. `memory` is the address of the execution plan's scratch_bytes(), `arrivals` that of zeroed
/// counters. The number and size of a group of a wrong size are written to the address `wrong`; 0: nowhere.
/// `convolution` is set if the kernel gathers the operands of a convolution.
result<void> enqueue(const problem& p, const execution_plan& execution, lane& on, std::uint64_t memory,
                     std::uint64_t arrivals, std::uint64_t wrong, overlap with_before, CUstream stream,
                     const kernels::convolution_arguments* convolution = nullptr);

}  // namespace troupe::cutlass
