// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/checker.hpp>

#include "numbers.hpp"
#include "routines.hpp"

/// What OpenBLAS cannot do, and the ways round it.
namespace troupe::blas {

static_assert(sizeof(blasint) == 4, "the limits below are those of an OpenBLAS that counts in 32 bits");
inline constexpr std::int64_t most = INT32_MAX;

inline blasint narrow(extent e) noexcept { return static_cast<blasint>(e.value()); }
/// The increment to use.
inline std::int64_t step(const extent& inc) noexcept { return or_tight(inc, 1).value(); }

template <class R>
error too_large(std::string_view field, extent value, std::string_view limit) {
  std::string text(name_of<R>());
  text.append(": ").append(field).append(" is ").append(std::to_string(value.value())).append("; ").append(limit);
  return error(reaction::unsupported, "blas", std::move(text));
}

/// Whether a field is a number that OpenBLAS can count to.
template <class F>
bool countable(const F& field) noexcept {
  if constexpr (std::is_same_v<F, extent>) return field == tight || std::abs(field.value()) <= most;
  return true;
}

/// All sizes, leading dimensions and increments of a request fit OpenBLAS.
template <class R>
result<void> fits(const R& r) {
  return R::visit_fields(r, [](std::string_view names, const auto&... field) -> result<void> {
    if ((countable(field) && ...)) [[likely]]
      return {};
    result<void> out;
    std::size_t i = 0;
    const auto look = [&](const auto& f) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(f)>, extent>)
        if (out && !countable(f))
          out = too_large<R>(nth_name(names, i), f,
                             "OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the "
                             "request");
      ++i;
    };
    (look(field), ...);
    return out;
  });
}

/// OpenBLAS looks for the start of a vector that is walked backwards in 32 bits.
template <class R>
result<void> reaches_back(const R& r, std::int64_t n, const extent& inc) {
  if (inc >= 0 || inc == tight || (n - 1) * -inc.value() <= most) return {};
  return too_large<R>(field_name<R>(&r, &inc), inc,
                      "OpenBLAS counts in 32 bits, so the host engine walks back over at most 2147483647 elements: use "
                      "a positive increment");
}

/// Everything together, for a request with the vectors x of nx elements and, where it has one, y of ny.
template <class R>
result<void> fits(const R& r, extent nx, extent ny) {
  if (auto ok = fits(r); !ok) return ok;
  if (auto ok = reaches_back(r, nx.value(), r.incx); !ok) return ok;
  if constexpr (requires { r.incy; }) return reaches_back(r, ny.value(), r.incy);
  return {};
}

/// Vectors that are longer or wider than 32 bits go in pieces. f(count, x offset, x increment, y offset, y increment).
template <class F>
void pieces(std::int64_t n, std::int64_t incx, std::int64_t incy, F&& f) {
  const std::int64_t piece = std::max<std::int64_t>(1, most / std::max(std::abs(incx), std::abs(incy)));
  for (std::int64_t i = 0; i < n; i += piece) {
    const std::int64_t count = std::min(piece, n - i);
    const auto offset = [&](std::int64_t inc) { return inc > 0 ? i * inc : (n - i - count) * -inc; };
    const auto step = [&](std::int64_t inc) { return count == 1 ? 1 : static_cast<blasint>(inc); };
    f(static_cast<blasint>(count), offset(incx), step(incx), offset(incy), step(incy));
  }
}
/// The same for one vector, whose order does not matter. f(count, offset, increment).
template <class F>
void pieces(std::int64_t n, std::int64_t inc, F&& f) {
  inc = std::abs(inc);
  pieces(n, inc, inc,
         [&f](blasint count, std::int64_t at, blasint step, std::int64_t, blasint) { f(count, at, step); });
}

/// x = beta * x by the rule for what is added to: a factor of 0 clears, whatever x held.
template <class T, class F>
void scale(T* x, std::int64_t n, std::int64_t inc, F beta) {
  inc = std::abs(inc);
  if (beta == F(1)) return;
  if (beta == F(0))
    for (std::int64_t i = 0; i < n; ++i) x[i * inc] = T{};
  else
    for (std::int64_t i = 0; i < n; ++i) x[i * inc] = product(beta, x[i * inc]);
}
template <class T, class F>
void scale(T* c, std::int64_t m, std::int64_t n, std::int64_t ld, F beta) {
  if (beta == F(1)) return;
  for (std::int64_t j = 0; j < n; ++j) scale(c + j * ld, m, 1, beta);
}
/// Column j of a triangle: rows [first, second).
inline std::pair<std::int64_t, std::int64_t> rows_of(triangle uplo, std::int64_t n, std::int64_t j) noexcept {
  return uplo == triangle::lower ? std::pair{j, n} : std::pair{std::int64_t{0}, j + 1};
}
template <class T, class F>
void scale(triangle uplo, T* c, std::int64_t n, std::int64_t ld, F beta) {
  if (beta == F(1)) return;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto [first, last] = rows_of(uplo, n, j);
    scale(c + j * ld + first, last - first, 1, beta);
  }
}

/// OpenBLAS's scaling goes wrong with some factors: 0 may keep a NaN, NaN may write zeros (0.3.21). Those it must not
/// see: `scaled_here` does them and answers the factor 1.
template <class F>
bool must_scale_here(F beta) noexcept {
  return beta == F(0) || !is_finite(beta);
}
template <class F, class Scale>
F scaled_here(F beta, Scale&& scaling) {
  if (!must_scale_here(beta)) return beta;
  scaling();
  return F(1);
}

/// The reply, which also goes to where the request wants it.
template <class R>
result<typename R::reply> answer(const R& r, typename R::reply value) {
  if (r.result) *r.result->data() = value;
  return value;
}

}  // namespace troupe::blas
