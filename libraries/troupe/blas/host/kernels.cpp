// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/base/numbers/convert.hpp>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/blas/host/kernels.hpp>
#include <troupe/blas/host/numbers.hpp>

namespace troupe::blas {
namespace {

template <class T>
double norm(const T* x, std::int64_t n, std::int64_t inc) noexcept {
  double scale = 0, squares = 1;
  bool any_nan = false, any_infinite = false;
  const auto add = [&](double v) {
    v = std::abs(v);
    if (v == 0) return;
    if (!std::isfinite(v)) {
      (std::isnan(v) ? any_nan : any_infinite) = true;
    } else if (scale < v) {
      squares = 1 + squares * (scale / v) * (scale / v);
      scale = v;
    } else {
      squares += (v / scale) * (v / scale);
    }
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (is_real<T>)
      add(x[i * inc]);
    else
      add(x[i * inc].real), add(x[i * inc].imag);
  }
  if (any_nan) return NAN;
  return any_infinite ? INFINITY : scale * std::sqrt(squares);
}

// Finds the most extreme magnitude, in as many interleaved parts as a vector unit can compare at once.
template <bool Largest, class T>
TROUPE_INLINE real_of<T> extreme(const T* x, std::int64_t n, std::int64_t inc) noexcept {
  using real = real_of<T>;
  constexpr std::int64_t parts = 32;
  constexpr real worst = Largest ? real(-1) : std::numeric_limits<real>::infinity();
  real best[parts];
  for (real& b : best) b = worst;
  const auto look = [](real& b, T v) {
    const real m = magnitude(v);
    b = (Largest ? m > b : m < b) ? m : b;
  };
  std::int64_t i = 0;
  if (inc == 1)
    for (; i + parts <= n; i += parts)
      for (std::int64_t p = 0; p < parts; ++p) look(best[p], x[i + p]);
  for (; i < n; ++i) look(best[0], x[i * inc]);
  for (const real b : best) best[0] = (Largest ? b > best[0] : b < best[0]) ? b : best[0];
  return best[0];
}

template <class T>
TROUPE_INLINE std::int64_t place_of(real_of<T> wanted, const T* x, std::int64_t n, std::int64_t inc,
                                    bool last) noexcept {
  const std::int64_t first = last ? n - 1 : 0, step = last ? -1 : 1;
  for (std::int64_t i = first; i >= 0 && i < n; i += step)
    if (magnitude(x[i * inc]) == wanted) return i;
  return first;  // all elements are NaN
}

}  // namespace

double scaled_norm(const float* x, std::int64_t n, std::int64_t inc) noexcept { return norm(x, n, inc); }
double scaled_norm(const double* x, std::int64_t n, std::int64_t inc) noexcept { return norm(x, n, inc); }
double scaled_norm(const complex64* x, std::int64_t n, std::int64_t inc) noexcept { return norm(x, n, inc); }
double scaled_norm(const complex128* x, std::int64_t n, std::int64_t inc) noexcept { return norm(x, n, inc); }

TROUPE_FOR_EACH_PROCESSOR
std::int64_t find_extremum(const float* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept {
  return place_of(largest ? extreme<true>(x, n, inc) : extreme<false>(x, n, inc), x, n, inc, last);
}
TROUPE_FOR_EACH_PROCESSOR
std::int64_t find_extremum(const double* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept {
  return place_of(largest ? extreme<true>(x, n, inc) : extreme<false>(x, n, inc), x, n, inc, last);
}
TROUPE_FOR_EACH_PROCESSOR
std::int64_t find_extremum(const complex64* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept {
  return place_of(largest ? extreme<true>(x, n, inc) : extreme<false>(x, n, inc), x, n, inc, last);
}
TROUPE_FOR_EACH_PROCESSOR
std::int64_t find_extremum(const complex128* x, std::int64_t n, std::int64_t inc, bool largest, bool last) noexcept {
  return place_of(largest ? extreme<true>(x, n, inc) : extreme<false>(x, n, inc), x, n, inc, last);
}

void to_float(const half* from, float* to, std::int64_t n) noexcept {
  troupe::detail::convert_elements(from, to, static_cast<std::size_t>(n));
}
TROUPE_FOR_EACH_PROCESSOR
void to_float(const bfloat16* from, float* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}
TROUPE_FOR_EACH_PROCESSOR
void to_float(const std::int8_t* from, float* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
void to_narrow(const float* from, half* to, std::int64_t n) noexcept {
  troupe::detail::convert_elements(from, to, static_cast<std::size_t>(n));
}
TROUPE_FOR_EACH_PROCESSOR
void to_narrow(const float* from, bfloat16* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = bfloat16(from[i]);
}
TROUPE_FOR_EACH_PROCESSOR
void add_whole(std::int32_t* sums, const float* values, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) sums[i] += static_cast<std::int32_t>(values[i]);
}

}  // namespace troupe::blas
