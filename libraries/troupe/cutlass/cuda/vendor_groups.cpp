// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/cutlass/cuda/cutlass_library/cutlass_library.hpp>

// The fatbin compiled from vendor_groups.cu.
TROUPE_EMBEDDED(troupe_cutlass_vendor_groups_kernels, TROUPE_KERNELS);

namespace troupe::cutlass {

result<const cuda::kernel_set*> cutlass_library::groups() {
  const std::scoped_lock guard(lock_);
  if (!groups_)
    groups_ = TROUPE_TRY(
        cuda::kernel_set::load(troupe_cutlass_vendor_groups_kernels, "troupe_cutlass_", "the kernels of cutlass"));
  return &*groups_;
}

}  // namespace troupe::cutlass
