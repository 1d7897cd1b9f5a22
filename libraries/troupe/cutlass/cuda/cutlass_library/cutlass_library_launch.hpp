// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cutlass/variants/cutlass_library/cutlass_library_plans.hpp>

namespace troupe::cutlass {

class cutlass_library;

/// An executable plan with a kernel of CUTLASS.
struct cutlass_library_execution_plan {
  const vendor::kernel_variant* variant = nullptr;
  cutlass_library_epilogue epilogue = {};
  kernel_signature signature = {};  ///< of the request
  bool swapped = false;
  int band = 0;
  std::uint64_t own_bytes = 0;               ///< bytes of memory that the kernel needs
  std::uint64_t bytes = 0;                   ///< bytes of all memory: for the kernel and the lists of groups
  const cuda::kernel_set* groups = nullptr;  ///< has the kernel that lists groups of rows
};

/// Makes the execution plan of a candidate that is a kernel of CUTLASS.
result<cutlass_library_execution_plan> cutlass_library_execution_plan_of(const problem& p, const kernel_signature& f,
                                                                         const candidate& c, cutlass_library& library);
result<cutlass_library_execution_plan> cutlass_library_execution_plan_of(const convolution_problem& p,
                                                                         const candidate& c, cutlass_library& library);

/// Launches the kernel. `memory` is the address of the execution plan's `bytes`. The number and size of a group of a
/// wrong size are written to the address `wrong`; 0: nowhere.
result<void> enqueue(const problem& p, const cutlass_library_execution_plan& execution, std::uint64_t memory,
                     std::uint64_t wrong, CUstream stream);
result<void> enqueue(const convolution_problem& p, const cutlass_library_execution_plan& execution,
                     std::uint64_t memory, CUstream stream);

}  // namespace troupe::cutlass
