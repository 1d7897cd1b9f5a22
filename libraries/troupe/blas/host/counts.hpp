// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/die.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/try.hpp>
#include <troupe/request/checker.hpp>
#include <type_traits>

/// The limits of OpenBLAS's 32-bit integers, and the errors for numbers beyond them.
namespace troupe::blas {

inline constexpr std::int64_t most = INT32_MAX;

/// Returns a number as OpenBLAS takes it. Requests whose numbers do not fit are refused before. A number that gets here
/// anyway must not be truncated, because OpenBLAS may accept the result.
inline std::int32_t narrow(extent e) noexcept {
  if (e < -most || e > most) [[unlikely]] {
    // Not an error: threads of a team call this too, and by then their output is partly written.
    die("troupe: blas.host passes %lld to OpenBLAS, which counts in 32 bits", static_cast<long long>(e.value()));
  }
  return static_cast<std::int32_t>(e.value());
}

template <class R>
error too_large(std::string_view field, extent value, std::string_view limit) {
  std::string text(name_of<R>());
  text.append(": ").append(field).append(" is ").append(std::to_string(value.value())).append("; ").append(limit);
  return error(reaction::unsupported, "blas", std::move(text));
}
template <class R>
error too_large(std::string_view field, extent value) {
  return too_large<R>(field, value,
                      "OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request");
}

/// Returns true if a field is a number that fits OpenBLAS.
template <class F>
bool countable(const F& field) noexcept {
  if constexpr (std::is_same_v<F, extent>) return field == tight || (field >= -most && field <= most);
  return true;
}

/// Fails unless these fields of a request fit OpenBLAS.
template <class R, class... F>
result<void> fits_in(const R& r, const F&... fields) {
  if ((countable(fields) && ...)) [[likely]]
    return {};
  result<void> out;
  const auto look = [&](const auto& f) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(f)>, extent>)
      if (out && !countable(f)) out = too_large<R>(field_name<R>(&r, &f), f);
  };
  (look(fields), ...);
  return out;
}
/// Fails unless all sizes, leading dimensions and increments of a request fit.
template <class R>
result<void> fits(const R& r) {
  return R::visit_fields(r, [&r](std::string_view, const auto&... field) { return fits_in(r, field...); });
}

/// Fails unless a leading dimension fits that follows from other sizes if it is left out; `ld` is the value used for
/// `field`.
template <class R>
result<void> leading_fits(const R& r, const extent& field, extent ld) {
  if (countable(ld)) [[likely]]
    return {};
  return too_large<R>(field_name<R>(&r, &field), ld);
}

/// Fails if OpenBLAS cannot compute the start of a backward vector in 32 bits.
template <class R>
result<void> backward_vector_fits(const R& r, std::int64_t n, const extent& inc) {
  if (inc >= 0 || inc == tight || (n - 1) * -inc.value() <= most) return {};
  return too_large<R>(field_name<R>(&r, &inc), inc,
                      "OpenBLAS counts in 32 bits, so with a negative increment a vector may span at most 2147483647 "
                      "elements on the host engine: use a positive increment");
}
template <class R>
result<void> backward_vectors_fit(const R& r, extent nx, extent ny) {
  TROUPE_TRY(backward_vector_fits(r, nx.value(), r.incx));
  if constexpr (requires { r.incy; }) return backward_vector_fits(r, ny.value(), r.incy);
  return {};
}

/// Runs all these checks, for a request with a vector x of nx elements and, if it has one, y of ny.
template <class R>
result<void> fits(const R& r, extent nx, extent ny) {
  TROUPE_TRY(fits(r));
  return backward_vectors_fit(r, nx, ny);
}

}  // namespace troupe::blas
