// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <troupe/base/numbers/convert.hpp>
#include <troupe/epilogue/host/elementary.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <troupe/epilogue/numbers.hpp>

// The result of an operation is one of its arguments or overlaps none, so iterations are independent.
#ifdef __clang__
#define TROUPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TROUPE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace troupe::epilogue::host {
namespace {

constexpr std::int64_t parts = 16, piece = 256;

template <op What>
TROUPE_INLINE void run(float* out, const float* x, const float* y, const float* z, std::int64_t n) noexcept {
  TROUPE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = fast_value<What>(x[i], y[i], z[i]);
}
template <op What>
TROUPE_INLINE void run_elementary(float* out, const float* x, const float* y, std::int64_t n) noexcept {
  if constexpr (is_limited(What)) {
    bool all = true;
    for (std::int64_t i = 0; i < n; ++i) all &= is_within_limit<What>(x[i], y[i]);
    if (!all) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = elementary_value_of(What, x[i], y[i]);
      return;
    }
  }
  TROUPE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = fast_elementary_value<What>(x[i], y[i]);
}
template <op What>
TROUPE_INLINE void run_elementary(double* out, const double* x, const double* y, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) out[i] = elementary_value_of(What, x[i], y[i]);
}
template <op What>
TROUPE_INLINE void run(double* out, const double* x, const double* y, const double* z, std::int64_t n) noexcept {
  TROUPE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = value_of(What, x[i], y[i], z[i]);
}

template <class N>
TROUPE_INLINE void apply_elementary(op what, N* out, const N* x, const N* y, std::int64_t n) noexcept {
  switch (what) {
#define TROUPE_RUN(WHAT) \
  case op::WHAT:         \
    return run_elementary<op::WHAT>(out, x, y, n);
    TROUPE_RUN(square_root)
    TROUPE_RUN(logarithm)
    TROUPE_RUN(sine)
    TROUPE_RUN(cosine)
    TROUPE_RUN(tangent)
    TROUPE_RUN(error_function)
    TROUPE_RUN(floor)
    TROUPE_RUN(ceiling)
    TROUPE_RUN(nearest_whole)
    TROUPE_RUN(power)
    TROUPE_RUN(modulo)
    TROUPE_RUN(arctangent)
    TROUPE_RUN(elu)
    TROUPE_RUN(d_elu)
    TROUPE_RUN(logical_and)
    TROUPE_RUN(logical_or)
#undef TROUPE_RUN
    default:
      if (out != x) std::copy_n(x, n, out);
  }
}

template <class N>
TROUPE_INLINE void apply_here(op what, N* out, const N* x, const N* y, const N* z, std::int64_t n) noexcept {
  switch (what) {
#define TROUPE_RUN(WHAT) \
  case op::WHAT:         \
    return run<op::WHAT>(out, x, y, z, n);
    TROUPE_RUN(negate)
    TROUPE_RUN(absolute)
    TROUPE_RUN(sign)
    TROUPE_RUN(exponential)
    TROUPE_RUN(relu)
    TROUPE_RUN(gelu)
    TROUPE_RUN(gelu_tanh)
    TROUPE_RUN(silu)
    TROUPE_RUN(tanh)
    TROUPE_RUN(sigmoid)
    TROUPE_RUN(softplus)
    TROUPE_RUN(hard_swish)
    TROUPE_RUN(d_relu)
    TROUPE_RUN(d_gelu)
    TROUPE_RUN(d_gelu_tanh)
    TROUPE_RUN(d_silu)
    TROUPE_RUN(d_tanh)
    TROUPE_RUN(d_sigmoid)
    TROUPE_RUN(d_softplus)
    TROUPE_RUN(d_hard_swish)
    TROUPE_RUN(add)
    TROUPE_RUN(subtract)
    TROUPE_RUN(multiply)
    TROUPE_RUN(divide)
    TROUPE_RUN(minimum)
    TROUPE_RUN(maximum)
    TROUPE_RUN(leaky_relu)
    TROUPE_RUN(d_leaky_relu)
    TROUPE_RUN(equal)
    TROUPE_RUN(less)
    TROUPE_RUN(less_equal)
    TROUPE_RUN(select)
#undef TROUPE_RUN
    default:
      return apply_elementary(what, out, x, y, n);
  }
}

TROUPE_FOR_EACH_PROCESSOR
void widen(const bfloat16* from, float* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}
TROUPE_FOR_EACH_PROCESSOR
void narrow(const float* from, bfloat16* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = bfloat16(from[i]);
}
void widen(const half* from, float* to, std::int64_t n) noexcept {
  troupe::detail::convert_elements(from, to, static_cast<std::size_t>(n));
}
void narrow(const float* from, half* to, std::int64_t n) noexcept {
  troupe::detail::convert_elements(from, to, static_cast<std::size_t>(n));
}

// If contiguous elements of the type have a fast conversion, calls `f` with one of them and returns true.
template <class F>
bool with_fast_type(dtype t, F&& f) {
  if (t == dtype::f16) return f(half{}), true;
  if (t == dtype::bf16) return f(bfloat16{}), true;
  return false;
}

template <class N>
void read_each(dtype type, const void* from, std::int64_t stride, N* to, std::int64_t n) noexcept {
  with_real_type(type, [&](auto element) {
    const auto* const at = static_cast<const decltype(element)*>(from);
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<N>(at[i * stride]);
  });
}
template <class N>
void write_each(dtype type, const N* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  with_real_type(type, [&](auto element) {
    auto* const at = static_cast<decltype(element)*>(to);
    for (std::int64_t i = 0; i < n; ++i) at[i * stride] = rounded_to<decltype(element)>(from[i]);
  });
}

template <class N>
TROUPE_INLINE N better(reduction how, N so_far, N x) noexcept {
  if (how == reduction::absolute_maximum) x = x < 0 ? -x : x;
  return so_far > x || so_far != so_far ? so_far : x;
}

template <class N>
TROUPE_INLINE double combine_here(reduction how, const N* x, std::int64_t n, double so_far) noexcept {
  std::int64_t i = 0;
  if (how == reduction::sum) {
    double sums[parts] = {};
    for (; i + parts <= n; i += parts)
      for (std::int64_t p = 0; p < parts; ++p) sums[p] += static_cast<double>(x[i + p]);
    for (const double s : sums) so_far += s;
    for (; i < n; ++i) so_far += static_cast<double>(x[i]);
    return so_far;
  }
  for (; i < n; ++i) so_far = better(how, so_far, static_cast<double>(x[i]));
  return so_far;
}
template <class N>
TROUPE_INLINE void combine_each_here(reduction how, const N* x, std::int64_t n, double* so_far) noexcept {
  if (how == reduction::sum) {
    for (std::int64_t i = 0; i < n; ++i) so_far[i] += static_cast<double>(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) so_far[i] = better(how, so_far[i], static_cast<double>(x[i]));
  }
}

}  // namespace

TROUPE_FOR_EACH_PROCESSOR
void apply(op what, float* out, const float* x, const float* y, const float* z, std::int64_t n) noexcept {
  apply_here(what, out, x, y, z, n);
}
void apply(op what, double* out, const double* x, const double* y, const double* z, std::int64_t n) noexcept {
  apply_here(what, out, x, y, z, n);
}

void read(dtype type, const void* from, std::int64_t stride, float* to, std::int64_t n) noexcept {
  if (stride == 0) {
    read_each(type, from, 1, to, 1);
    return std::fill_n(to, n, *to), void();
  }
  if (stride == 1 && type == dtype::f32) return std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof *to), void();
  if (stride == 1 && with_fast_type(type, [&](auto x) { widen(static_cast<const decltype(x)*>(from), to, n); })) return;
  read_each(type, from, stride, to, n);
}
void read(dtype type, const void* from, std::int64_t stride, double* to, std::int64_t n) noexcept {
  read_each(type, from, stride, to, n);
}

void write(dtype type, const float* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  if (stride == 1 && type == dtype::f32)
    return std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof *from), void();
  if (stride == 1 && with_fast_type(type, [&](auto x) { narrow(from, static_cast<decltype(x)*>(to), n); })) return;
  write_each(type, from, to, stride, n);
}
void write(dtype type, const double* from, void* to, std::int64_t stride, std::int64_t n) noexcept {
  write_each(type, from, to, stride, n);
}

void round(dtype type, const float* from, float* to, std::int64_t n) noexcept {
  const bool fast = with_fast_type(type, [&](auto x) {
    std::array<decltype(x), piece> narrowed;
    for (std::int64_t i = 0; i < n; i += piece) {
      const std::int64_t here = std::min(piece, n - i);
      narrow(from + i, narrowed.data(), here);
      widen(narrowed.data(), to + i, here);
    }
  });
  if (fast) return;
  with_real_type(type, [&](auto x) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(rounded_to<decltype(x)>(from[i]));
  });
}
void round(dtype type, const double* from, double* to, std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = nearest_of(type, from[i]);
}

TROUPE_FOR_EACH_PROCESSOR
double combine(reduction how, const float* x, std::int64_t n, double so_far) noexcept {
  return combine_here(how, x, n, so_far);
}
double combine(reduction how, const double* x, std::int64_t n, double so_far) noexcept {
  return combine_here(how, x, n, so_far);
}
TROUPE_FOR_EACH_PROCESSOR
void combine_each(reduction how, const float* x, std::int64_t n, double* so_far) noexcept {
  combine_each_here(how, x, n, so_far);
}
void combine_each(reduction how, const double* x, std::int64_t n, double* so_far) noexcept {
  combine_each_here(how, x, n, so_far);
}

}  // namespace troupe::epilogue::host
