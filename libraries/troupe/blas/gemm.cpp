// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/blas/internal/checks.hpp>

namespace troupe::blas {
namespace {

template <class T, class C, class R>
void check_shape(const R& r, checker& check) {
  positive(check, r.m, r.n, r.k);
  if constexpr (std::is_same_v<C, std::int32_t>)
    if (r.k > longest_int8_sum)
      check.refuse(
          &r.k, cat("is ", r.k.value()),
          cat("at most ", longest_int8_sum, ", so that no sum of products overflows: split k, and add with beta = 1"));
  math_fits<T>(check, r.math);
  check.number(r.alpha);
  check.number(r.beta);
}

// A wrong field of a group, "whose m is 0", and what was expected instead.
struct complaint {
  std::string value, expected;
};

// Returns the first wrong field of a group, or nullopt.
template <class C, class S>
std::optional<complaint> complaint_about(const gemm_group<S>& g) {
  const auto less = [](const char* field, extent value, extent least) -> complaint {
    if (value.overflowed()) return {cat("whose ", field, " is too large for 64 bits"), "a number that fits"};
    return {cat("whose ", field, " is ", value.value()), cat("at least ", least.value())};
  };
  if (g.m < 1) return less("m", g.m, 1);
  if (g.n < 1) return less("n", g.n, 1);
  if (g.k < 1) return less("k", g.k, 1);
  if (g.count < 1) return less("count", g.count, 1);
  if (std::is_same_v<C, std::int32_t> && g.k > longest_int8_sum)
    return complaint{cat("whose k is ", g.k.value()),
                     cat("at most ", longest_int8_sum, ", so that no sum of products overflows")};
  if (!is_known(g.trans_a)) return complaint{cat("whose trans_a is ", static_cast<int>(g.trans_a)), one_of<op>()};
  if (!is_known(g.trans_b)) return complaint{cat("whose trans_b is ", static_cast<int>(g.trans_b)), one_of<op>()};
  const extent rows_a = stored(g.trans_a, g.m, g.k).rows, rows_b = stored(g.trans_b, g.k, g.n).rows;
  if (g.lda != tight && g.lda < rows_a) return less("lda", g.lda, rows_a);
  if (g.ldb != tight && g.ldb < rows_b) return less("ldb", g.ldb, rows_b);
  if (g.ldc != tight && g.ldc < g.m) return less("ldc", g.ldc, g.m);
  return std::nullopt;
}

}  // namespace

template <class T, class C>
void gemm<T, C>::check(checker& check) const {
  check_shape<T, C>(*this, check);
  holds_matrix(check, a, stored(trans_a, m, k), lda);
  holds_matrix(check, b, stored(trans_b, k, n), ldb);
  holds_matrix(check, c, {m, n}, ldc);
  if (beta.is(0)) check.overwrites(c);
}

template <class T, class C>
void gemm_strided_batched<T, C>::check(checker& check) const {
  check_shape<T, C>(*this, check);
  check.positive(batch);
  const shape sa = stored(trans_a, m, k), sb = stored(trans_b, k, n), sc{m, n};
  matrices(check, a, sa, check.leading(lda, sa.rows), batch, stride_a);
  matrices(check, b, sb, check.leading(ldb, sb.rows), batch, stride_b);
  matrices(check, c, sc, check.leading(ldc, m), batch, stride_c);
  if (beta.is(0)) check.overwrites(c);
}

template <class T, class C>
void gemm_batched<T, C>::check(checker& check) const {
  check_shape<T, C>(*this, check);
  equally_long(check, a, b, c);
  holds_matrix(check, a, stored(trans_a, m, k), lda);
  holds_matrix(check, b, stored(trans_b, k, n), ldb);
  holds_matrix(check, c, {m, n}, ldc);
  if (beta.is(0))
    for (const auto& one : c) check.overwrites(one);
}

template <class T, class C>
void gemm_grouped<T, C>::check(checker& check) const {
  if (!equally_long(check, a, b, c)) return;
  math_fits<T>(check, math);
  std::size_t next = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& g = groups[i];
    if (const auto wrong = complaint_about<C>(g))
      return check.refuse(&groups, cat("has a group [", i, "] ", wrong->value), wrong->expected);
    if (static_cast<std::uint64_t>(g.count.value()) > a.size() - next) break;
    for (const std::size_t end = next + static_cast<std::size_t>(g.count.value()); next < end; ++next) {
      holds_matrix(check, a[next], stored(g.trans_a, g.m, g.k), g.lda);
      holds_matrix(check, b[next], stored(g.trans_b, g.k, g.n), g.ldb);
      holds_matrix(check, c[next], {g.m, g.n}, g.ldc);
      if (g.beta == compute_of<T, C>(0)) check.overwrites(c[next]);
    }
  }
  extent total = 0;
  for (const auto& g : groups) total = total + g.count;
  if (total != extent(a.size()))
    check.refuse(&groups,
                 "counts " + (total.overflowed() ? "too many products" : counted(total.value(), "product", "products")),
                 cat(a.size(), ", as many as the lists have"));
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_products)
