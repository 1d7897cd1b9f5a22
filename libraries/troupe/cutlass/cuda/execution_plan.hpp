// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <functional>
#include <troupe/cuda/scratch.hpp>
#include <troupe/cutlass/cuda/lane.hpp>
#include <troupe/cutlass/cuda/variant_store.hpp>
#include <troupe/cutlass/cuda/vendor_launch.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolution_signature.hpp>

namespace troupe::cutlass {

/// Executable plan of products with one signature and one size: launches `vendors`, or else everything after it.
struct execution_plan {
  plan_info info;
  std::optional<vendor_execution_plan> vendors;
  kernel_signature signature;  ///< of the kernel: swapped and crossed as the plan
  std::shared_ptr<const kernel_variant> kernel;
  bool swapped = false, crossed = false, along_n = false;
  std::array<matrix_map, 3> maps{};  ///< boxes of the factors and of the result; none if the type is `no_map`
  static constexpr std::uint32_t no_map = ~0u;
  hopper_variant hopper;  ///< set if the plan is one of that template
  unsigned blocks = 0;
  int tiles_m = 0, tiles_n = 0, band = 1, whole_tiles = 0, parts = 1, sharers = 0, stage_bytes = 0;
  std::uint64_t sums_bytes = 0, reduction_bytes = 0;
  unsigned reductions = 0;
  std::int64_t tiles = 0,
               row_parts = 0;  ///< counts of the kernel: tiles or clusters of them, and parts of reductions
  std::uint32_t arrivals = 0;  ///< counters of divided tiles

  std::uint64_t scratch_bytes() const noexcept { return vendors ? vendors->bytes : sums_bytes + reduction_bytes; }
};

/// Returns the public description of a plan and its kernel.
plan_info info_of(const candidate& c, kernel_source from, std::uint64_t workspace) noexcept;
/// Returns "12.34 us".
std::string in_microseconds(double us);

/// Returns the bytes beside the operands that a plan needs in any case, as far as known without its kernel.
std::uint64_t fewest_scratch_bytes(const problem& p, const candidate& c) noexcept;

/// Makes the execution plan of a candidate: writes or finds its kernel.
result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, variant_store& variants, compiling how);

/// Makes the execution plan with the given text of its kernel, which gathers the operands of `gathered`.
result<std::shared_ptr<execution_plan>> execution_plan_of(const problem& p, const kernel_signature& f,
                                                          const candidate& c, const variant_source& text,
                                                          variant_store& variants, compiling how,
                                                          const convolution_signature* gathered = nullptr);

/// Overlap of a kernel with the one before it in the stream.
enum class overlap : std::uint8_t {
  none,    ///< not at all
  begins,  ///< it is launched before, and waits until the other has ended
  whole,   ///< it neither reads nor writes what the other writes
};

/// Launches a product. `memory` has the execution plan's scratch_bytes(), `arrivals` counters that are 0. `wrong` is
/// the address for the number of a wrong group and its size; 0: none. `window` is that of a convolution's kernel.
result<void> enqueue(const problem& p, const execution_plan& execution, lane& on, std::uint64_t memory,
                     std::uint64_t arrivals, std::uint64_t wrong, overlap with_before, CUstream stream,
                     const kernels::window* window = nullptr);

}  // namespace troupe::cutlass
