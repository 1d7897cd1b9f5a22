// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/extensions.hpp>

namespace troupe::blas {

template <class T>
static result<void> enqueue(const geam<T>& r, job& j) {
  const std::int64_t m = r.m.value(), n = r.n.value(), ldc = or_tight(r.ldc, r.m).value(),
                     lda = or_tight(r.lda, r.trans_a == op::none ? r.m : r.n).value(),
                     ldb = or_tight(r.ldb, r.trans_b == op::none ? r.m : r.n).value();
  // If a factor is in memory, our own kernel is used: it checks for a factor of 0, whose matrix must have no effect.
  if (!r.alpha.by_value() || !r.beta.by_value()) {
    const auto [blocks, threads] = for_elements(m, n);
    return j.launch(kernel<"add_matrices", T>, blocks, threads,
                    kernel_arguments::sum_of_matrices{.alpha = number_of(r.alpha),
                                                      .beta = number_of(r.beta),
                                                      .a = r.a.data(),
                                                      .b = r.b.data(),
                                                      .c = r.c.data(),
                                                      .m = m,
                                                      .n = n,
                                                      .lda = lda,
                                                      .ldb = ldb,
                                                      .ldc = ldc,
                                                      .op_a = static_cast<std::int32_t>(r.trans_a),
                                                      .op_b = static_cast<std::int32_t>(r.trans_b)});
  }
  const auto [alpha, beta] = TROUPE_TRY(j.factors(r.alpha, r.beta));
  return j(TROUPE_CUBLAS(geam_64), code<T>(r.trans_a), code<T>(r.trans_b), m, n, alpha, r.a.data(), lda, beta,
           r.b.data(), ldb, r.c.data(), ldc);
}

// Uses our own kernel, because cuBLAS does not document how its routine treats negative increments.
template <class T>
static result<void> enqueue(const dgmm<T>& r, job& j) {
  const bool left = r.side == side::left;
  const std::int64_t m = r.m.value(), n = r.n.value(), inc = step(r.incx);
  const auto [blocks, threads] = for_elements(m, n);
  return j.launch(
      kernel<"multiply_by_diagonal", T>, blocks, threads,
      kernel_arguments::diagonal_product{.a = r.a.data(),
                                         .x = inc > 0 ? r.x.data() : r.x.data() - ((left ? m : n) - 1) * inc,
                                         .c = r.c.data(),
                                         .m = m,
                                         .n = n,
                                         .lda = or_tight(r.lda, r.m).value(),
                                         .inc = inc,
                                         .ldc = or_tight(r.ldc, r.m).value(),
                                         .left = left});
}

operations extension_operations() noexcept { return operations_of<cublas, all_extensions>(); }

}  // namespace troupe::blas
