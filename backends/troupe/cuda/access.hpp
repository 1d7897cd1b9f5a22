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

/// Writing is allowed again. A driver (580) was seen to answer CUDA_ERROR_ALREADY_MAPPED where reading alone was
/// allowed before: then the same memory is mapped anew. Nobody may be using it.
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
