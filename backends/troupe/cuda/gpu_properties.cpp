// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

result<gpu_properties> gpu_properties::of(int device, std::string_view domain) {
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
  gpu_properties out;
  const int major = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)),
            minor = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  out.capability = major * 10 + minor;
  out.multiprocessors = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  out.shared_bytes = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  out.l2_bytes = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  out.gigahertz = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) * 1e-6;
  const double memory_khz = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)),
               bits = TROUPE_TRY(attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  out.memory_bytes_per_ns = 2 * memory_khz * 1e3 * bits / 8 * 1e-9;
  out.name = cat(static_cast<const char*>(name), ", capability ", major, ".", minor, ", ", out.multiprocessors,
                 " multiprocessors, ", bytes, " bytes of memory with ", static_cast<int>(out.memory_bytes_per_ns),
                 " GB/s, ", static_cast<int>(out.gigahertz * 1000), " MHz, driver ", driver);
  return out;
}

}  // namespace troupe::cuda
