// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <bench/host/openblas.hpp>
#include <troupe/base/result.hpp>
#include <troupe/worker/plugins/load_library.hpp>

namespace troupe::bench {

openblas::openblas() {
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (!library_) library_.reset(load_library(name, RTLD_NOW | RTLD_LOCAL));
  const auto find = [this](const char* name, auto& function) {
    if (library_)
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library_.get(), name));
    if (function == nullptr)
      throw bad_result(
          error(reaction::unsupported, "bench", "no libopenblas.so.0 to compare with; install libopenblas0-pthread"));
  };
  find("cblas_dgemm", dgemm_);
  find("cblas_sgemm", sgemm_);
  find("cblas_sgemv", sgemv_);
  find("cblas_saxpy", saxpy_);
}

}  // namespace troupe::bench
