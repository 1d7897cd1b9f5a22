// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/cells/vendor_plans.hpp>

namespace troupe::cutlass {

class vendor_family;

/// How a kernel of CUTLASS computes a problem.
struct vendor_way {
  const vendor::cell* cell = nullptr;
  vendor_epilogue epilogue = {};
  whole_form form = {};  ///< of the request
  bool swapped = false;
  int band = 0;
  std::uint64_t own_bytes = 0;               ///< of memory, for the kernel
  std::uint64_t bytes = 0;                   ///< of all
  const cuda::kernel_set* groups = nullptr;  ///< of groups of rows: what lists them
};

/// Makes the way of a candidate that is a kernel of CUTLASS.
result<vendor_way> vendor_way_of(const problem& p, const whole_form& f, const candidate& c, vendor_family& vendor);
result<vendor_way> vendor_way_of(const convolution_problem& p, const candidate& c, vendor_family& vendor);

/// Launches it. `memory` has the way's bytes; `wrong` is where a wrong group is written, 0: nowhere.
result<void> enqueue(const problem& p, const vendor_way& way, std::uint64_t memory, std::uint64_t wrong,
                     CUstream stream);
result<void> enqueue(const convolution_problem& p, const vendor_way& way, std::uint64_t memory, CUstream stream);

}  // namespace troupe::cutlass
