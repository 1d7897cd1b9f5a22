// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/variants/vendor_plans.hpp>

namespace troupe::cutlass {

class vendor_family;

/// Executable plan of a problem that a kernel of CUTLASS computes.
struct vendor_execution_plan {
  const vendor::kernel_variant* variant = nullptr;
  vendor_epilogue epilogue = {};
  kernel_signature signature = {};  ///< of the request
  bool swapped = false;
  int band = 0;
  std::uint64_t own_bytes = 0;               ///< memory for the kernel
  std::uint64_t bytes = 0;                   ///< memory in all
  const cuda::kernel_set* groups = nullptr;  ///< lists groups of rows
};

/// Makes the execution plan of a candidate that is a kernel of CUTLASS.
result<vendor_execution_plan> vendor_execution_plan_of(const problem& p, const kernel_signature& f, const candidate& c,
                                                       vendor_family& vendor);
result<vendor_execution_plan> vendor_execution_plan_of(const convolution_problem& p, const candidate& c,
                                                       vendor_family& vendor);

/// Launches it. `memory` has the execution plan's bytes; `wrong` is the address for a wrong group, 0: none.
result<void> enqueue(const problem& p, const vendor_execution_plan& execution, std::uint64_t memory,
                     std::uint64_t wrong, CUstream stream);
result<void> enqueue(const convolution_problem& p, const vendor_execution_plan& execution, std::uint64_t memory,
                     CUstream stream);

}  // namespace troupe::cutlass
