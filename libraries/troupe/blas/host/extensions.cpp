// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/extensions.hpp>
#include <troupe/blas/host/batch.hpp>
#include <troupe/blas/host/engine.hpp>

namespace troupe::blas {

// Calls f(first row, end row, first column, end column) for the blocks of an m by n matrix. A block and its transpose
// fit the cache together.
template <class F>
static void for_each_block(thread_team& all, std::int64_t m, std::int64_t n, F&& f) {
  constexpr std::int64_t block = 64, at_once = 8;
  const std::int64_t down = (m + block - 1) / block, across = (n + block - 1) / block;
  all.spread(down * across, at_once, [&](std::int64_t i) {
    const std::int64_t row = i % down * block, column = i / down * block;
    f(row, std::min(m, row + block), column, std::min(n, column + block));
  });
}

// Returns element (i, j) of op(X).
template <op Op, class T>
struct op_view {
  const T* x;
  std::int64_t ld;
  T operator()(std::int64_t i, std::int64_t j) const noexcept {
    if constexpr (Op == op::none)
      return x[i + j * ld];
    else if constexpr (Op == op::transpose)
      return x[j + i * ld];
    else
      return conjugate(x[j + i * ld]);
  }
};
// Calls f with a view of op(X), for an op that is known only at run time.
template <class T, class F>
static void see(op o, const T* x, std::int64_t ld, F&& f) {
  if (o == op::none) return f(op_view<op::none, T>{x, ld});
  if (o == op::transpose) return f(op_view<op::transpose, T>{x, ld});
  f(op_view<op::conjugate_transpose, T>{x, ld});
}

template <class T>
static result<void> compute(const geam<T>& r, thread_team& all) {
  const T alpha = r.alpha.load(), beta = r.beta.load();
  const std::int64_t m = r.m.value(), n = r.n.value(), ldc = or_tight(r.ldc, r.m).value();
  T* const c = r.c.data();
  const auto fill = [&](auto&& value) {
    for_each_block(all, m, n, [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
      for (std::int64_t j = j0; j < j1; ++j)
        for (std::int64_t i = i0; i < i1; ++i) c[i + j * ldc] = value(i, j);
    });
  };
  see(r.trans_a, r.a.data(), or_tight(r.lda, r.trans_a == op::none ? r.m : r.n).value(), [&](auto a) {
    see(r.trans_b, r.b.data(), or_tight(r.ldb, r.trans_b == op::none ? r.m : r.n).value(), [&](auto b) {
      if (alpha == T(0) && beta == T(0))
        fill([](auto, auto) { return T{}; });
      else if (alpha == T(0))
        fill([&](auto i, auto j) { return product(beta, b(i, j)); });
      else if (beta == T(0))
        fill([&](auto i, auto j) { return product(alpha, a(i, j)); });
      else
        fill([&](auto i, auto j) { return sum(product(alpha, a(i, j)), product(beta, b(i, j))); });
    });
  });
  return {};
}

template <class T>
static result<void> compute(const dgmm<T>& r, thread_team& all) {
  const bool left = r.side == side::left;
  const std::int64_t m = r.m.value(), n = r.n.value(), lda = or_tight(r.lda, r.m).value(),
                     ldc = or_tight(r.ldc, r.m).value(), inc = step(r.incx);
  const T* const x = inc > 0 ? r.x.data() : r.x.data() - ((left ? m : n) - 1) * inc;
  for_each_block(all, m, n, [&](std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1) {
    for (std::int64_t j = j0; j < j1; ++j)
      for (std::int64_t i = i0; i < i1; ++i)
        r.c.data()[i + j * ldc] = product(x[(left ? i : j) * inc], r.a.data()[i + j * lda]);
  });
  return {};
}

operations extension_operations() noexcept { return operations_of<openblas, all_extensions>(); }

}  // namespace troupe::blas
