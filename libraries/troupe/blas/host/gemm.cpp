// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/blas/host/batch.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/products.hpp>

namespace troupe::blas {

// The fields that all products of a batch have in common. `R` is a request or a gemm_group.
template <class T, class C, class R>
static matrix_product<T, C> shape_of(const R& r, compute_of<T, C> alpha, compute_of<T, C> beta) {
  return {.trans_a = r.trans_a,
          .trans_b = r.trans_b,
          .m = r.m.value(),
          .n = r.n.value(),
          .k = r.k.value(),
          .alpha = alpha,
          .beta = beta,
          .a = nullptr,
          .lda = or_tight(r.lda, r.trans_a == op::none ? r.m : r.k).value(),
          .b = nullptr,
          .ldb = or_tight(r.ldb, r.trans_b == op::none ? r.k : r.n).value(),
          .c = nullptr,
          .ldc = or_tight(r.ldc, r.m).value()};
}
template <class T, class C>
static matrix_product<T, C> at(matrix_product<T, C> shape, const T* a, const T* b, C* c) noexcept {
  shape.a = a, shape.b = b, shape.c = c;
  return shape;
}
template <class T, class C>
static double work_of(const matrix_product<T, C>& p) noexcept {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

template <class T, class C>
static result<void> compute(const gemm<T, C>& r) {
  TROUPE_TRY(fits(r));
  multiply(at(shape_of<T, C>(r, r.alpha.load(), r.beta.load()), r.a.data(), r.b.data(), r.c.data()));
  return {};
}

template <class T, class C>
static result<void> compute(const gemm_strided_batched<T, C>& r, thread_team& all) {
  TROUPE_TRY(fits_in(r, r.m, r.n, r.k, r.lda, r.ldb, r.ldc));  // strides are not passed to OpenBLAS
  const auto shape = shape_of<T, C>(r, r.alpha.load(), r.beta.load());
  const auto stride = [](extent given, std::int64_t ld, std::int64_t columns) {
    return or_tight(given, extent(ld) * columns).value();
  };
  const std::int64_t a = stride(r.stride_a, shape.lda, r.trans_a == op::none ? shape.k : shape.m),
                     b = stride(r.stride_b, shape.ldb, r.trans_b == op::none ? shape.n : shape.k),
                     c = stride(r.stride_c, shape.ldc, shape.n);
  each_of_batch(all, r.batch.value(), work_of(shape), [&](std::int64_t i) {
    multiply(at(shape, r.a.data() + i * a, r.b.data() + i * b, r.c.data() + i * c));
  });
  return {};
}

template <class T, class C>
static result<void> compute(const gemm_batched<T, C>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const auto shape = shape_of<T, C>(r, r.alpha.load(), r.beta.load());
  each_of_batch(all, static_cast<std::int64_t>(r.a.size()), work_of(shape), [&](std::int64_t at_index) {
    const auto i = static_cast<std::size_t>(at_index);
    multiply(at(shape, r.a[i].data(), r.b[i].data(), r.c[i].data()));
  });
  return {};
}

template <class S>
static result<void> fits_group(std::string_view request, const gemm_group<S>& g, std::size_t index) {
  const std::pair<const char*, extent> fields[] = {{"m", g.m},     {"n", g.n},     {"k", g.k},
                                                   {"lda", g.lda}, {"ldb", g.ldb}, {"ldc", g.ldc}};
  for (const auto& [name, value] : fields)
    if (!countable(value))
      return error(reaction::unsupported, "blas",
                   cat(request, ": ", name, " of groups[", index, "] is ", value.value(),
                       "; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request"));
  return {};
}

template <class T, class C>
static result<void> compute(const gemm_grouped<T, C>& r, thread_team& all) {
  for (std::size_t i = 0; i < r.groups.size(); ++i)
    TROUPE_TRY(fits_group(name_of<gemm_grouped<T, C>>(), r.groups[i], i));
  std::size_t first = 0;
  for (const auto& g : r.groups) {
    const auto shape = shape_of<T, C>(g, g.alpha, g.beta);
    each_of_batch(all, g.count.value(), work_of(shape), [&](std::int64_t at_index) {
      const std::size_t i = first + static_cast<std::size_t>(at_index);
      multiply(at(shape, r.a[i].data(), r.b[i].data(), r.c[i].data()));
    });
    first += static_cast<std::size_t>(g.count.value());
  }
  return {};
}

template <class T, class C>
static std::uint64_t group_key(const gemm<T, C>& r) noexcept {
  return key_of_work(r, 64 * 64 * 64, r.m, r.n, r.k);
}

operations gemm_operations() noexcept { return operations_of<openblas, all_products>(); }

}  // namespace troupe::blas
