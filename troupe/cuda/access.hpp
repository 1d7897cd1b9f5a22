// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/errors.hpp>

namespace troupe::cuda {

/// What the device may do with memory that is mapped: all of what one or several cuMemMap have mapped.
inline result<void> set_access(CUdevice device, CUdeviceptr address, std::size_t bytes, CUmemAccess_flags flags) {
  CUmemAccessDesc how{};
  how.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  how.flags = flags;
  return done(::cuMemSetAccess(address, bytes, &how, 1), "cuMemSetAccess");
}

}  // namespace troupe::cuda
