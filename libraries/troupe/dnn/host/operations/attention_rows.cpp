// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/attention_rows.hpp>
#include <troupe/epilogue/host/functions.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t wide = 32;

TROUPE_INLINE float exponential(float x) noexcept { return epilogue::host::fast_exp(x); }
TROUPE_INLINE double exponential(double x) noexcept { return std::exp(x); }
TROUPE_INLINE float hyperbolic(float x) noexcept { return epilogue::host::fast_tanh(x); }
TROUPE_INLINE double hyperbolic(double x) noexcept { return std::tanh(x); }

template <class N>
constexpr N lowest = -std::numeric_limits<N>::infinity();

template <class N>
TROUPE_INLINE N largest_of(const N* s, std::int64_t n) noexcept {
  N best[wide];
  for (std::int64_t k = 0; k < wide; ++k) best[k] = lowest<N>;
  std::int64_t i = 0;
  for (; i + wide <= n; i += wide)
    for (std::int64_t k = 0; k < wide; ++k) best[k] = s[i + k] > best[k] ? s[i + k] : best[k];
  for (; i < n; ++i) best[0] = s[i] > best[0] ? s[i] : best[0];
  for (std::int64_t k = 1; k < wide; ++k) best[0] = best[k] > best[0] ? best[k] : best[0];
  return best[0];
}
template <class N>
TROUPE_INLINE N sum_of(const N* s, std::int64_t n) noexcept {
  N sums[wide] = {};
  std::int64_t i = 0;
  for (; i + wide <= n; i += wide)
    for (std::int64_t k = 0; k < wide; ++k) sums[k] += s[i + k];
  for (; i < n; ++i) sums[0] += s[i];
  for (std::int64_t half = wide / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}
// Replaces scores by exp(s - base), or by 0 for keys that are not visible, whatever the base is.
template <class N>
TROUPE_INLINE void exponentials(N* s, std::int64_t n, N base) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    const N e = exponential(s[i] - base);
    s[i] = s[i] == lowest<N> ? N(0) : e;
  }
}

template <class N>
TROUPE_INLINE N weigh_here(N* s, std::int64_t n, running_softmax& so_far) noexcept {
  const N before = static_cast<N>(so_far.largest), here = largest_of(s, n), now = here > before ? here : before;
  if (now == lowest<N>) {
    // No key has been visible so far; NaN is propagated.
    exponentials(s, n, N(0));
    so_far.sum += static_cast<double>(sum_of(s, n));
    return 1;
  }
  exponentials(s, n, now);
  const N factor = before == lowest<N> ? N(1) : exponential(before - now);
  so_far.sum = so_far.sum * static_cast<double>(factor) + static_cast<double>(sum_of(s, n));
  so_far.largest = static_cast<double>(now);
  return factor;
}

template <int Rows, class N>
TROUPE_INLINE void score_rows(const N* rows, const N* keys, std::int64_t n, std::int64_t width, N* s) noexcept {
  constexpr std::int64_t lanes = 64 / sizeof(N);
  for (std::int64_t j = 0; j < n; ++j) {
    const N* const key = keys + j * width;
    N sums[Rows][lanes] = {};
    std::int64_t c = 0;
    for (; c + lanes <= width; c += lanes)
      for (int r = 0; r < Rows; ++r)
        for (std::int64_t k = 0; k < lanes; ++k) sums[r][k] += rows[r * width + c + k] * key[c + k];
    for (; c < width; ++c)
      for (int r = 0; r < Rows; ++r) sums[r][0] += rows[r * width + c] * key[c];
    for (int r = 0; r < Rows; ++r) {
      for (std::int64_t half = lanes / 2; half > 0; half /= 2)
        for (std::int64_t k = 0; k < half; ++k) sums[r][k] += sums[r][k + half];
      s[r * n + j] = sums[r][0];
    }
  }
}
template <class N>
TROUPE_INLINE void score_small_tile_here(const N* rows, std::int64_t count, const N* keys, std::int64_t n,
                                         std::int64_t width, N* s) noexcept {
  for (; count >= 2; count -= 2, rows += 2 * width, s += 2 * n) score_rows<2>(rows, keys, n, width, s);
  if (count > 0) score_rows<1>(rows, keys, n, width, s);
}

template <class N>
TROUPE_INLINE void find_dropout_factors_here(const attention_dropping& d, std::int64_t head, std::int64_t query,
                                             std::int64_t first, std::int64_t n, N factor, N* to) noexcept {
  constexpr std::int64_t most = 64;
  std::uint32_t words[most + 4];
  for (std::int64_t done = 0; done < n;) {
    const std::int64_t begin = (first + done) / 4 * 4, skipped = first + done - begin,
                       count = n - done < most - skipped ? n - done : most - skipped,
                       groups = (skipped + count + 3) / 4;
    for (std::int64_t g = 0; g < groups; ++g) {
      const random_words four = d.words(head, query, begin + 4 * g);
      for (int i = 0; i < 4; ++i) words[4 * g + i] = four.word[i];
    }
    for (std::int64_t i = 0; i < count; ++i) to[done + i] = words[skipped + i] >= d.threshold ? factor : N(0);
    done += count;
  }
}

}  // namespace

#define TROUPE_DNN_ATTENTION_ROWS(N)                                                                                 \
  TROUPE_FOR_EACH_PROCESSOR N weigh(N* s, std::int64_t n, running_softmax& so_far) noexcept {                        \
    return weigh_here(s, n, so_far);                                                                                 \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void weigh_finally(N* s, std::int64_t n, N statistic) noexcept {                         \
    exponentials(s, n, statistic);                                                                                   \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void cap_scores(N* s, N* derivative, std::int64_t n, N cap) noexcept {                   \
    const N per_cap = 1 / cap;                                                                                       \
    for (std::int64_t i = 0; i < n; ++i) {                                                                           \
      const N t = hyperbolic(s[i] * per_cap);                                                                        \
      s[i] = cap * t, derivative[i] = 1 - t * t;                                                                     \
    }                                                                                                                \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void add_bias(N* s, const N* bias, std::int64_t stride, std::int64_t n) noexcept {       \
    if (stride == 1)                                                                                                 \
      for (std::int64_t i = 0; i < n; ++i) s[i] += bias[i];                                                          \
    else                                                                                                             \
      for (std::int64_t i = 0; i < n; ++i) s[i] += bias[i * stride];                                                 \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void add_alibi(N* s, N slope, std::int64_t first, std::int64_t n) noexcept {             \
    for (std::int64_t i = 0; i < n; ++i) {                                                                           \
      const N d = static_cast<N>(first + i);                                                                         \
      s[i] -= slope * (d < 0 ? -d : d);                                                                              \
    }                                                                                                                \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void scale(N* to, const N* from, N factor, std::int64_t n) noexcept {                    \
    for (std::int64_t i = 0; i < n; ++i) to[i] = factor * from[i];                                                   \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void add_scaled(N* to, const N* from, N factor, std::int64_t n) noexcept {               \
    for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];                                                  \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR double dot(const N* a, const N* b, std::int64_t n) noexcept {                            \
    double sums[8] = {};                                                                                             \
    std::int64_t i = 0;                                                                                              \
    for (; i + 8 <= n; i += 8)                                                                                       \
      for (std::int64_t k = 0; k < 8; ++k) sums[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]); \
    for (; i < n; ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);                             \
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));                \
  }                                                                                                                  \
  TROUPE_FOR_EACH_PROCESSOR void score_gradients(N* dp, const N* weights, const N* factors, N mean,                  \
                                                 std::int64_t n) noexcept {                                          \
    if (factors == nullptr)                                                                                          \
      for (std::int64_t i = 0; i < n; ++i) dp[i] = weights[i] * (dp[i] - mean);                                      \
    else                                                                                                             \
      for (std::int64_t i = 0; i < n; ++i) dp[i] = weights[i] * (factors[i] * dp[i] - mean);                         \
  }
TROUPE_DNN_ATTENTION_ROWS(float)
TROUPE_DNN_ATTENTION_ROWS(double)

#define TROUPE_DNN_ATTENTION_SCORES(N)                                                                              \
  TROUPE_FOR_EACH_PROCESSOR void score_small_tile(const N* rows, std::int64_t count, const N* keys, std::int64_t n, \
                                                  std::int64_t width, N* s) noexcept {                              \
    score_small_tile_here(rows, count, keys, n, width, s);                                                          \
  }                                                                                                                 \
  TROUPE_FOR_EACH_PROCESSOR void find_dropout_factors(const attention_dropping& d, std::int64_t head,               \
                                                      std::int64_t query, std::int64_t first, std::int64_t n,       \
                                                      N factor, N* to) noexcept {                                   \
    find_dropout_factors_here(d, head, query, first, n, factor, to);                                                \
  }
TROUPE_DNN_ATTENTION_SCORES(float)
TROUPE_DNN_ATTENTION_SCORES(double)

}  // namespace troupe::dnn::host
