// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/small_products.hpp>

namespace troupe::dnn::host {
namespace {

// A vector of elements. An array would not do, because GCC would keep it in memory.
template <class N>
struct lanes {
  static constexpr std::int64_t count = 64 / sizeof(N);
  typedef N type __attribute__((vector_size(64)));  // NOLINT(modernize-use-using): the attribute needs it
};
template <class N>
TROUPE_INLINE void load(typename lanes<N>::type& to, const N* from) noexcept {
  std::memcpy(&to, from, sizeof to);
}

constexpr std::int64_t at_a_time = 4;  // independent vectors of sums, so that additions overlap

template <class N>
TROUPE_INLINE N dot(const N* x, const N* y, std::int64_t n) noexcept {
  constexpr std::int64_t wide = lanes<N>::count;
  typename lanes<N>::type sums[at_a_time] = {}, a, b;
  std::int64_t i = 0;
  for (; i + at_a_time * wide <= n; i += at_a_time * wide)
    for (std::int64_t k = 0; k < at_a_time; ++k) {
      load(a, x + i + k * wide), load(b, y + i + k * wide);
      sums[k] += a * b;
    }
  for (; i + wide <= n; i += wide) {
    load(a, x + i), load(b, y + i);
    sums[0] += a * b;
  }
  N all = 0;
  for (; i < n; ++i) all += x[i] * y[i];
  sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (std::int64_t k = 0; k < wide; ++k) all += sums[0][k];
  return all;
}

// Adds the product of one row of a with `count` columns of b to `to`. Sums columns_at_a_time columns in vectors, fewer
// in a plain loop.
template <class N>
constexpr std::int64_t columns_at_a_time = at_a_time * lanes<N>::count;
template <class N>
TROUPE_INLINE void add_columns(const N* a, const N* b, std::int64_t stride, std::int64_t k, N* to,
                               std::int64_t count) noexcept {
  constexpr std::int64_t wide = lanes<N>::count;
  std::int64_t first = 0;
  if (count == columns_at_a_time<N>) {
    typename lanes<N>::type sums[at_a_time] = {}, v;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < at_a_time; ++j) {
        load(v, b + i * stride + j * wide);
        sums[j] += a[i] * v;
      }
    for (; first < count; ++first) to[first] += sums[first / wide][first % wide];
  }
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = first; j < count; ++j) to[j] += a[i] * b[i * stride + j];
}

// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_SMALL_PRODUCTS(N)                                                                            \
  TROUPE_FOR_EACH_PROCESSOR                                                                                     \
  void add_dots_of(const N* x, std::int64_t x_stride, std::int64_t m, const N* line, std::int64_t k, N* to,     \
                   std::int64_t stride) noexcept {                                                              \
    for (std::int64_t i = 0; i < m; ++i) to[i * stride] += dot(x + i * x_stride, line, k);                      \
  }                                                                                                             \
  TROUPE_FOR_EACH_PROCESSOR                                                                                     \
  void add_columns_of(const N* a, std::int64_t a_stride, std::int64_t m, const N* b, std::int64_t b_stride,     \
                      std::int64_t k, N* to, std::int64_t stride, std::int64_t count) noexcept {                \
    for (std::int64_t i = 0; i < m; ++i) add_columns(a + i * a_stride, b, b_stride, k, to + i * stride, count); \
  }
TROUPE_DNN_SMALL_PRODUCTS(float)
TROUPE_DNN_SMALL_PRODUCTS(double)
#undef TROUPE_DNN_SMALL_PRODUCTS

constexpr std::int64_t part_size = 1 << 17;  // multiplications for which a thread of its own is worthwhile

template <class N>
void dots(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<N> a, rows_of<N> b, N* c,
          std::int64_t stride) {
  on.team.spread(n, std::max<std::int64_t>(1, part_size / (m * k)),
                 [&](std::int64_t j) { add_dots_of(a.data, a.stride, m, b.data + j * b.stride, k, c + j, stride); });
}
template <class N>
void lines(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<N> a, rows_of<N> b,
           N* c, std::int64_t stride) {
  constexpr std::int64_t wide = columns_at_a_time<N>;
  on.team.spread((n + wide - 1) / wide, std::max<std::int64_t>(1, part_size / (m * k * wide)), [&](std::int64_t part) {
    const std::int64_t first = part * wide;
    add_columns_of(a.data, a.stride, m, b.data + first, b.stride, k, c + first, stride, std::min(wide, n - first));
  });
}

}  // namespace

void add_dots(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
              rows_of<float> b, float* c, std::int64_t stride) {
  dots(on, m, n, k, a, b, c, stride);
}
void add_dots(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
              rows_of<double> b, double* c, std::int64_t stride) {
  dots(on, m, n, k, a, b, c, stride);
}
void add_lines(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<float> a,
               rows_of<float> b, float* c, std::int64_t stride) {
  lines(on, m, n, k, a, b, c, stride);
}
void add_lines(const execution_context& on, std::int64_t m, std::int64_t n, std::int64_t k, rows_of<double> a,
               rows_of<double> b, double* c, std::int64_t stride) {
  lines(on, m, n, k, a, b, c, stride);
}

}  // namespace troupe::dnn::host
