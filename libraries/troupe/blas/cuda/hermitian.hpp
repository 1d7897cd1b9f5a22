// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/job.hpp>

namespace troupe::blas {

/// The diagonal of a Hermitian matrix that a request writes.
template <class T>
struct hermitian_diagonal {
  T* a;
  std::int64_t n, ld;
  kernel_arguments::part which = kernel_arguments::part::whole;
};

/// Makes the diagonal real before and after `update`, because imaginary parts in memory must have no effect.
template <class T, class Update>
result<void> keeping_real(job& j, const hermitian_diagonal<T>& d, Update&& update) {
  const auto make_real = [&] {
    return j.launch(kernel<"make_real", real_of<T>>, {at_most((d.n + 255) / 256, 1024)}, {256},
                    kernel_arguments::diagonal{.a = d.a, .n = d.n, .ld = d.ld, .which = d.which});
  };
  TROUPE_TRY(make_real());
  TROUPE_TRY(update());
  return make_real();
}

}  // namespace troupe::blas
