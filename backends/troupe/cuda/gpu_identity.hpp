// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

/// Returns a text of what plans and measured choices depend on, for keys on disk: the GPU's name, capability, number of
/// multiprocessors and memory, and the driver's version. `domain` is the library that asks.
inline result<std::string> gpu_identity(CUdevice device, std::string_view domain) {
  const auto attribute = [&](CUdevice_attribute which) -> result<int> {
    int value = 0;
    TROUPE_TRY(done_on(nullptr, domain, "cuDeviceGetAttribute", ::cuDeviceGetAttribute(&value, which, device)));
    return value;
  };
  char name[256] = {};
  std::size_t bytes = 0;
  int driver = 0;
  TROUPE_TRY(done_on(nullptr, domain, "cuDeviceGetName", ::cuDeviceGetName(name, sizeof name, device)));
  TROUPE_TRY(done_on(nullptr, domain, "cuDeviceTotalMem", ::cuDeviceTotalMem(&bytes, device)));
  TROUPE_TRY(done_on(nullptr, domain, "cuDriverGetVersion", ::cuDriverGetVersion(&driver)));
  const int major = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            minor = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
            multiprocessors = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  return cat(static_cast<const char*>(name), ", capability ", major, ".", minor, ", ", multiprocessors,
             " multiprocessors, ", bytes, " bytes of memory, driver ", driver);
}

}  // namespace troupe::cuda
