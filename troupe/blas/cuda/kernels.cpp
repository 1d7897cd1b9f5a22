// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <troupe/base/try.hpp>
#include <troupe/cuda/embedded.hpp>
#include <vector>

#include "status.hpp"

// The fatbin that was made of kernels.cu.
TROUPE_EMBEDDED(troupe_blas_kernels, TROUPE_KERNELS);

namespace troupe::blas {
namespace {

constexpr std::string_view prefix = "troupe_blas_";

}  // namespace

result<kernel_set> kernel_set::make() {
  kernel_set out;
  CUlibrary library = nullptr;
  if (const CUresult r = ::cuLibraryLoadData(&library, troupe_blas_kernels, nullptr, nullptr, 0, nullptr, nullptr, 0);
      r != CUDA_SUCCESS)
    return failed("cuLibraryLoadData of the kernels of blas", r, nullptr);
  out.library_.reset(library);
  unsigned count = 0;
  TROUPE_TRY(done("cuLibraryGetKernelCount", ::cuLibraryGetKernelCount(&count, library), nullptr));
  std::vector<CUkernel> all(count);
  TROUPE_TRY(done("cuLibraryEnumerateKernels", ::cuLibraryEnumerateKernels(all.data(), count, library), nullptr));
  for (const CUkernel kernel : all) {
    const char* name = nullptr;
    TROUPE_TRY(done("cuKernelGetName", ::cuKernelGetName(&name, kernel), nullptr));
    out.by_name_.emplace(std::string_view(name).substr(prefix.size()), kernel);
  }
  return out;
}

CUkernel kernel_set::find(std::string_view name) const noexcept {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

}  // namespace troupe::blas
