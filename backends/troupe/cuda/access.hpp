// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/errors.hpp>

namespace troupe::cuda {

/// Sets what the device may do with mapped memory. The range must be exactly what one or more cuMemMap calls have
/// mapped.
inline result<void> set_access(CUdevice device, CUdeviceptr address, std::size_t bytes, CUmemAccess_flags flags) {
  CUmemAccessDesc how{};
  how.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  how.flags = flags;
  return done(::cuMemSetAccess(address, bytes, &how, 1), "cuMemSetAccess");
}

/// Makes read-only memory writable again. A driver (580) was seen to return CUDA_ERROR_ALREADY_MAPPED here; the same
/// memory is then mapped again. Precondition: nothing uses the memory.
inline result<void> allow_writing(CUdevice device, CUdeviceptr address, std::size_t bytes) {
  auto allowed = set_access(device, address, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  if (allowed || allowed.error().code() != CUDA_ERROR_ALREADY_MAPPED) return allowed;
  CUmemGenericAllocationHandle memory = 0;
  if (const CUresult r = ::cuMemRetainAllocationHandle(&memory, reinterpret_cast<void*>(address)); r != CUDA_SUCCESS)
    return failed("cuMemRetainAllocationHandle", r);
  auto again = done(::cuMemUnmap(address, bytes), "cuMemUnmap");
  if (again) again = done(::cuMemMap(address, bytes, 0, memory, 0), "cuMemMap");
  (void)::cuMemRelease(memory);
  return again ? set_access(device, address, bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) : again;
}

}  // namespace troupe::cuda
