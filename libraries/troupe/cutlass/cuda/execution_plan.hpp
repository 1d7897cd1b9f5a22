// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <functional>
#include <troupe/cuda/scratch.hpp>
#include <troupe/cutlass/cells/candidates.hpp>
#include <troupe/cutlass/cells/convolution_form.hpp>
#include <troupe/cutlass/cuda/cell_store.hpp>
#include <troupe/cutlass/cuda/lane.hpp>
#include <troupe/cutlass/cuda/vendor_launch.hpp>

namespace troupe::cutlass {

/// How products of one form and one size are computed: as `vendors` says, or else as all that follows it.
struct route {
  plan_info info;
  std::optional<vendor_way> vendors;
  whole_form form;  ///< as the kernel sees it
  std::shared_ptr<const cell> kernel;
  bool swapped = false, crossed = false, along_n = false;
  std::array<map_form, 3> maps{};  ///< boxes of the factors and of the result; none if the type is `no_map`
  static constexpr std::uint32_t no_map = ~0u;
  hopper_cell hopper;  ///< if the plan is one of that template
  unsigned blocks = 0;
  int tiles_m = 0, tiles_n = 0, band = 1, whole_tiles = 0, parts = 1, sharers = 0, stage_bytes = 0;
  std::uint64_t sums_bytes = 0, reduction_bytes = 0;
  unsigned reductions = 0;
  std::int64_t tiles = 0,
               row_parts = 0;  ///< what the kernel counts: tiles or clusters of them, and parts of reductions
  std::uint32_t arrivals = 0;  ///< counters of divided tiles

  std::uint64_t scratch_bytes() const noexcept { return vendors ? vendors->bytes : sums_bytes + reduction_bytes; }
};

/// What a plan and its kernel say of themselves.
plan_info info_of(const candidate& c, kernel_source from, std::uint64_t workspace) noexcept;
/// Returns "12.34 us".
std::string in_microseconds(double us);

/// Returns the bytes beside the operands that a plan needs in any case, as far as is known without its kernel.
std::uint64_t fewest_scratch_bytes(const problem& p, const candidate& c) noexcept;

/// Makes the route of a plan: writes or finds its kernel.
result<std::shared_ptr<route>> route_of(const problem& p, const whole_form& f, const candidate& c, cell_store& cells,
                                        compiling how);

/// The same with the text of its kernel, which gathers what `gathered` says.
result<std::shared_ptr<route>> route_of(const problem& p, const whole_form& f, const candidate& c,
                                        const cell_text& text, cell_store& cells, compiling how,
                                        const convolution_form* gathered = nullptr);

/// How a kernel may run at the same time as the one before it in the stream.
enum class overlap : std::uint8_t {
  none,    ///< not at all
  begins,  ///< it is launched before, and waits until the other has ended
  whole,   ///< it neither reads nor writes what the other writes
};

/// Launches a product. `memory` has the route's scratch_bytes(), `arrivals` counters that are 0. `wrong` is where the
/// number of a wrong group is written, and its size; 0: nowhere. `window` is that of a convolution's kernel.
result<void> enqueue(const problem& p, const route& way, lane& on, std::uint64_t memory, std::uint64_t arrivals,
                     std::uint64_t wrong, overlap with_before, CUstream stream,
                     const kernels::window* window = nullptr);

}  // namespace troupe::cutlass
