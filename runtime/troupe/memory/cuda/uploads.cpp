// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "uploads.hpp"

#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/launch.hpp>

// The fatbin of uploads.cu.
TROUPE_EMBEDDED(troupe_memory_kernels, TROUPE_KERNELS);

namespace troupe::memory {

using cuda::done;

result<small_uploads> small_uploads::make(int device) {
  // The application's memory is mapped read-only. If the driver cannot pin such memory, kernels cannot read it.
  bool can_read = true;
  for (const CUdevice_attribute needed : {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                                          CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM}) {
    int value = 0;
    TROUPE_TRY(done(::cuDeviceGetAttribute(&value, needed, device), "cuDeviceGetAttribute"));
    can_read &= value != 0;
  }
  // The worker uses the primary context only if it is a thread of the program.
  unsigned flags = 0;
  int is_primary = 0;
  TROUPE_TRY(done(::cuDevicePrimaryCtxGetState(device, &flags, &is_primary), "cuDevicePrimaryCtxGetState"));
  return small_uploads(can_read, is_primary != 0);
}

// Adopted memory may be the host's, which kernels cannot write but the driver's copies can.
bool small_uploads::can_write(std::span<const one> all) const noexcept {
  return !among_others_ || std::all_of(all.begin(), all.end(), [](const one& u) {
    CUmemorytype type{};
    return ::cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(u.target)) ==
           CUDA_SUCCESS;
  });
}

// Loads the kernel at the first call. If that fails, uploads use the driver's copies.
const cuda::kernel_set* small_uploads::kernels() {
  const std::scoped_lock guard(*lock_);
  if (!std::exchange(is_loaded_, true))
    if (auto loaded = cuda::kernel_set::load(troupe_memory_kernels, "troupe_memory_", "the kernels of memory"))
      kernels_.emplace(std::move(*loaded));
  return kernels_ ? &*kernels_ : nullptr;
}

result<void> small_uploads::run(std::span<const one> all, CUstream stream) {
  const bool by_kernel = can_read_ && all.size() >= fewest && all.size() <= most && can_write(all);
  const cuda::kernel_set* const with = by_kernel ? kernels() : nullptr;
  if (with == nullptr) {
    for (const one& u : all)
      TROUPE_TRY(done(::cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(u.target), reinterpret_cast<CUdeviceptr>(u.source),
                                      u.bytes, stream),
                      "cuMemcpyAsync"));
    return {};
  }
  upload_arguments::uploads a{};
  std::copy(all.begin(), all.end(), a.all);
  const std::uint64_t largest =
      std::max_element(all.begin(), all.end(), [](const one& x, const one& y) { return x.bytes < y.bytes; })->bytes;
  constexpr std::uint64_t each = upload_arguments::bytes_in_block;
  const cuda::grid blocks{.x = static_cast<unsigned>((largest + each - 1) / each),
                          .y = static_cast<unsigned>(all.size())};
  return cuda::launch(*with, cuda::kernel<"uploads">, blocks, {.x = upload_arguments::threads}, stream, "memory", a);
}

}  // namespace troupe::memory
