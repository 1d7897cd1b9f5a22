// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/kernels.hpp>

namespace troupe::cuda {

bool kernel_set::add(std::uint64_t number, CUkernel kernel) noexcept {
  std::size_t at = number & (table_.size() - 1);
  for (; table_[at].kernel != nullptr; at = (at + 1) & (table_.size() - 1))
    if (table_[at].number == number) return false;
  table_[at] = {number, kernel};
  ++size_;
  return true;
}

CUkernel kernel_set::find(kernel_id which) const noexcept {
  std::size_t at = which.number & (table_.size() - 1);
  while (table_[at].kernel != nullptr && table_[at].number != which.number) at = (at + 1) & (table_.size() - 1);
  return table_[at].kernel;
}

result<kernel_set> kernel_set::load(const unsigned char* image, std::string_view prefix, std::string_view what) {
  kernel_set out;
  CUlibrary library = nullptr;
  if (const CUresult r = ::cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
      r != CUDA_SUCCESS)
    return failed(cat("cuLibraryLoadData of ", what), r);
  out.library_.reset(library);
  unsigned count = 0;
  TROUPE_TRY(done(::cuLibraryGetKernelCount(&count, library), "cuLibraryGetKernelCount"));
  std::vector<CUkernel> all(count);
  TROUPE_TRY(done(::cuLibraryEnumerateKernels(all.data(), count, library), "cuLibraryEnumerateKernels"));
  out.table_.resize(std::bit_ceil(std::size_t{2} * count + 1));
  for (const CUkernel kernel : all) {
    const char* c_name = nullptr;
    TROUPE_TRY(done(::cuKernelGetName(&c_name, kernel), "cuKernelGetName"));
    const std::string_view name(c_name);
    if (!name.starts_with(prefix) || !out.add(fnv1a(name.substr(prefix.size())), kernel))
      return error(reaction::fatal, "cuda",
                   cat(what, ": the image has a kernel ", name, "; expected names that begin with ", prefix,
                       ", no two with the same hash"));
  }
  return out;
}

}  // namespace troupe::cuda
