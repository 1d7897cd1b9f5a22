// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/linux/die.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/try.hpp>
#include <troupe/request/checker.hpp>
#include <type_traits>

/// The limits of OpenBLAS's 32-bit integers, and the errors for values beyond them.
namespace troupe::blas {

inline constexpr std::int64_t most = INT32_MAX;

/// Returns a value as OpenBLAS takes it. Requests with values that do not fit are refused before. A value that gets
/// here anyway must not be truncated, because OpenBLAS might accept the truncated value.
inline std::int32_t narrow(extent e) noexcept {
  if (e < -most || e > most) [[unlikely]] {
    // Ends the process instead of returning an error: threads of a team call this too, when their output is partly
    // written.
    die("troupe: blas.host passes %lld to OpenBLAS, which counts in 32 bits; the request should have been refused: "
        "please report this",
        static_cast<long long>(e.value()));
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

/// Returns true if a field's value fits in OpenBLAS's integers.
template <class F>
bool countable(const F& field) noexcept {
  if constexpr (std::is_same_v<F, extent>) return field == tight || (field >= -most && field <= most);
  return true;
}

/// Fails unless these fields of a request fit in OpenBLAS's integers.
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

/// Fails unless a leading dimension fits, also if the request leaves it out and it follows from other extents. `ld` is
/// the value used for `field`.
template <class R>
result<void> leading_fits(const R& r, const extent& field, extent ld) {
  if (countable(ld)) [[likely]]
    return {};
  return too_large<R>(field_name<R>(&r, &field), ld);
}

/// Fails if OpenBLAS cannot compute the first address of a vector with a negative increment in 32 bits.
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

/// Makes all of these checks, for a request with a vector x of nx elements and, if it has one, a vector y of ny
/// elements.
template <class R>
result<void> fits(const R& r, extent nx, extent ny) {
  TROUPE_TRY(fits(r));
  return backward_vectors_fit(r, nx, ny);
}

}  // namespace troupe::blas
