// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/row_products.hpp>
#include <troupe/dnn/host/sums.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/steps/iteration_space.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::dnn::host {
namespace {

iteration_space iteration_space_of(const location& x, std::initializer_list<const location*> others) {
  std::vector<axis_values> strides{dense_strides(x.shape)};
  for (const location* l : others) strides.push_back(broadcast_strides(l->shape, x.shape.rank, x.shape.extents));
  return {x.shape.rank, x.shape.extents, std::move(strides)};
}

template <class N>
double element_of(reduction_kind k, N x) noexcept {
  const auto v = static_cast<double>(x);
  if (k == reduction_kind::absolute_maximum || k == reduction_kind::norm1) return std::fabs(v);
  return k == reduction_kind::norm2 ? v * v : v;
}
double start_of(reduction_kind k) noexcept {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (k == reduction_kind::maximum) return -infinite;
  if (k == reduction_kind::minimum) return infinite;
  return k == reduction_kind::product ? 1 : 0;
}
void larger(double& a, double b) noexcept { a = a > b || a != a ? a : b; }
void smaller(double& a, double b) noexcept { a = a < b || a != a ? a : b; }
void times(double& a, double b) noexcept { a *= b; }

// Returns the maximum or minimum of a line. Computes it in vectors, since the order of the elements does not matter.
template <bool Larger, class N>
TROUPE_INLINE N best_along(const N* x, std::int64_t n, bool absolute) noexcept {
  constexpr std::int64_t wide = 32;
  const auto take = [absolute](N so_far, N v) {
    v = absolute && v < 0 ? -v : v;
    return ((Larger ? v > so_far : v < so_far) | (v != v)) ? v : so_far;
  };
  N best[wide];
  std::fill_n(best, wide, absolute ? N(0) : (Larger ? -1 : 1) * std::numeric_limits<N>::infinity());
  std::int64_t i = 0;
  for (; i + wide <= n; i += wide)
    for (std::int64_t k = 0; k < wide; ++k) best[k] = take(best[k], x[i + k]);
  for (; i < n; ++i) best[0] = take(best[0], x[i]);
  for (std::int64_t k = 1; k < wide; ++k) best[0] = take(best[0], best[k]);
  return best[0];
}
// Adds elements to the sums beside them.
template <class N>
TROUPE_INLINE void add_elements(const N* x, std::int64_t n, reduction_kind how, double* sums) noexcept {
  const auto add_each = [&](auto of) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += of(static_cast<double>(x[i]));
  };
  if (how == reduction_kind::norm1) return add_each([](double v) { return std::fabs(v); });
  if (how == reduction_kind::norm2) return add_each([](double v) { return v * v; });
  add_each([](double v) { return v; });
}
// Combines elements with the maxima or minima beside them.
template <class N>
TROUPE_INLINE void take_elements(const N* x, std::int64_t n, reduction_kind how, double* best) noexcept {
  const auto take_each = [&](auto is_better, auto of) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = of(static_cast<double>(x[i])), old = best[i];
      best[i] = (is_better(old, v) | (old != old)) ? old : v;
    }
  };
  const auto same = [](double v) { return v; };
  const auto is_larger = [](double a, double b) { return a > b; };
  if (how == reduction_kind::minimum) return take_each([](double a, double b) { return a < b; }, same);
  if (how == reduction_kind::maximum) return take_each(is_larger, same);
  take_each(is_larger, [](double v) { return std::fabs(v); });
}
// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_LINES(N)                                                                                \
  TROUPE_FOR_EACH_PROCESSOR                                                                                \
  double best_of(const N* x, std::int64_t n, bool larger, bool absolute) noexcept {                        \
    return larger ? best_along<true>(x, n, absolute) : best_along<false>(x, n, absolute);                  \
  }                                                                                                        \
  TROUPE_FOR_EACH_PROCESSOR                                                                                \
  void add_line(const N* x, std::int64_t n, reduction_kind how, double* sums) noexcept {                   \
    add_elements(x, n, how, sums);                                                                         \
  }                                                                                                        \
  TROUPE_FOR_EACH_PROCESSOR                                                                                \
  void take_line(const N* x, std::int64_t n, reduction_kind how, double* best) noexcept {                  \
    take_elements(x, n, how, best);                                                                        \
  }                                                                                                        \
  TROUPE_FOR_EACH_PROCESSOR                                                                                \
  void add_products(const N* x, const N* y, std::int64_t n, double* sums) noexcept {                       \
    for (std::int64_t i = 0; i < n; ++i) sums[i] += static_cast<double>(x[i]) * static_cast<double>(y[i]); \
  }
TROUPE_DNN_LINES(float)
TROUPE_DNN_LINES(double)
#undef TROUPE_DNN_LINES

auto combiner_of(reduction_kind k) noexcept {
  if (k == reduction_kind::maximum || k == reduction_kind::absolute_maximum) return &larger;
  if (k == reduction_kind::minimum) return &smaller;
  return k == reduction_kind::product ? &times : &add;
}

}  // namespace

template <class N>
void reduce(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<reduction_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0];
  const iteration_space over = iteration_space_of(x, {&y});
  const N* const from = on.elements<N>(x);
  N* const to = on.elements<N>(y);
  const std::int64_t count = elements_of(y.shape), n = over.length();
  const auto combine = combiner_of(a.kind);
  const bool adds = combine == &add, chooses = combine == &larger || combine == &smaller;
  const auto all = sum_of_sets(
      on, over, 1, count, start_of(a.kind),
      [&](std::int64_t l, double* sums, std::int64_t stride) {
        const N* const line = from + over.begin(0, l);
        if (adds && stride == 0)
          *sums += sum_along(n, [&](std::int64_t i) { return element_of(a.kind, line[i]); });
        else if (chooses && stride == 0)
          combine(*sums, best_of(line, n, combine == &larger, a.kind == reduction_kind::absolute_maximum));
        else if (adds && stride == 1)
          add_line(line, n, a.kind, sums);
        else if (chooses && stride == 1)
          take_line(line, n, a.kind, sums);
        else
          for (std::int64_t i = 0; i < n; ++i) combine(sums[i * stride], element_of(a.kind, line[i]));
      },
      combine);
  const double set_size = static_cast<double>(elements_of(x.shape) / count);
  for (std::int64_t i = 0; i < count; ++i) {
    double v = all[static_cast<std::size_t>(i)];
    if (a.kind == reduction_kind::mean) v /= set_size;
    if (a.kind == reduction_kind::norm2) v = std::sqrt(v);
    to[i] = static_cast<N>(v);
  }
}

namespace {

// The most neighboring lines whose softmax is computed together; their elements at one index are neighbors.
constexpr std::int64_t most_lines = 256;
// Elements of a single line that are computed at a time.
constexpr std::int64_t most_of_line = 1024;

// Calls `f(begin, count)` for groups of neighboring lines, on several threads: few groups, but some for each thread.
template <class F>
void for_each_group(const execution_context& on, const lines_along& all, F&& f) {
  const std::int64_t of_thread = all.outer * all.inner / (4 * static_cast<std::int64_t>(on.team.threads())),
                     together = std::clamp<std::int64_t>(of_thread, 32, most_lines),
                     groups = (all.inner + together - 1) / together;
  on.team.spread(all.outer * groups, std::max<std::int64_t>(1, 4096 / (all.extent * std::min(all.inner, together))),
                 [&](std::int64_t task) {
                   const std::int64_t first = task % groups * together;
                   f(task / groups * all.extent * all.inner + first, std::min(together, all.inner - first));
                 });
}

template <class N>
void exponentials(N* x, std::int64_t n) noexcept {
  epilogue::host::apply(epilogue::op::exponential, x, x, x, x, n);
}
template <class N>
double sum_of(const N* x, std::int64_t n) noexcept {
  return sum_along(n, [&](std::int64_t i) { return static_cast<double>(x[i]); });
}

// Computes the softmax of a contiguous line.
template <class N>
void softmax_of_line(const N* in, N* out, std::int64_t n, bool is_logarithmic) {
  const N most = static_cast<N>(best_of(in, n, true, false));
  N some[most_of_line];
  double sum = 0;
  for (std::int64_t first = 0; first < n; first += most_of_line) {
    const std::int64_t count = std::min(most_of_line, n - first);
    N* const e = is_logarithmic ? some : out + first;
    for (std::int64_t i = 0; i < count; ++i) e[i] = in[first + i] - most;
    exponentials(e, count);
    sum += sum_of(e, count);
  }
  const N by = static_cast<N>(is_logarithmic ? std::log(sum) : 1 / sum);
  if (is_logarithmic)
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] - most - by;
  else
    for (std::int64_t i = 0; i < n; ++i) out[i] *= by;
}

// Computes the softmax of neighboring lines of `extent` elements with the stride `stride`.
template <class N>
void softmax_of_lines(const N* in, N* out, std::int64_t lines, std::int64_t extent, std::int64_t stride,
                      bool is_logarithmic) {
  using enum epilogue::op;
  N most[most_lines], by[most_lines], some[most_lines];
  double sums[most_lines] = {};
  std::copy_n(in, lines, most);
  for (std::int64_t i = 1; i < extent; ++i) {
    const N* const x = in + i * stride;
    epilogue::host::apply(maximum, most, most, x, x, lines);
  }
  for (std::int64_t i = 0; i < extent; ++i) {
    N* const e = is_logarithmic ? some : out + i * stride;
    epilogue::host::apply(subtract, e, in + i * stride, most, most, lines);
    exponentials(e, lines);
    add_line(e, lines, reduction_kind::sum, sums);
  }
  for (std::int64_t k = 0; k < lines; ++k) by[k] = static_cast<N>(is_logarithmic ? std::log(sums[k]) : 1 / sums[k]);
  for (std::int64_t i = 0; i < extent; ++i) {
    N* const y = out + i * stride;
    if (is_logarithmic) epilogue::host::apply(subtract, y, in + i * stride, most, most, lines);
    epilogue::host::apply(is_logarithmic ? subtract : multiply, y, y, by, by, lines);
  }
}

}  // namespace

template <class N>
void softmax(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<softmax_attributes>();
  const lines_along all = lines_of(step.inputs[0].shape, a.over);
  const N* const from = on.elements<N>(step.inputs[0]);
  N* const to = on.elements<N>(step.outputs[0]);
  for_each_group(on, all, [&](std::int64_t begin, std::int64_t lines) {
    if (all.inner == 1)
      softmax_of_line(from + begin, to + begin, all.extent, a.logarithmic != 0);
    else
      softmax_of_lines(from + begin, to + begin, lines, all.extent, all.inner, a.logarithmic != 0);
  });
}

namespace {

// The gradient of softmax: y * (dy - the sum of y * dy); of its logarithm: dy - exp(y) * the sum of dy.
template <class N>
void gradient_of_line(const N* dy, const N* y, N* dx, std::int64_t n, bool is_logarithmic) {
  if (!is_logarithmic) {
    const N sum = static_cast<N>(
        sum_along(n, [&](std::int64_t i) { return static_cast<double>(dy[i]) * static_cast<double>(y[i]); }));
    for (std::int64_t i = 0; i < n; ++i) dx[i] = y[i] * (dy[i] - sum);
    return;
  }
  const N sum = static_cast<N>(sum_of(dy, n));
  N some[most_of_line];
  for (std::int64_t first = 0; first < n; first += most_of_line) {
    const std::int64_t count = std::min(most_of_line, n - first);
    std::copy_n(y + first, count, some);
    exponentials(some, count);
    for (std::int64_t i = 0; i < count; ++i) dx[first + i] = dy[first + i] - some[i] * sum;
  }
}
template <class N>
void gradient_of_lines(const N* dy, const N* y, N* dx, std::int64_t lines, std::int64_t extent, std::int64_t stride,
                       bool is_logarithmic) {
  using enum epilogue::op;
  double sums[most_lines] = {};
  for (std::int64_t i = 0; i < extent * stride; i += stride) {
    if (is_logarithmic)
      add_line(dy + i, lines, reduction_kind::sum, sums);
    else
      add_products(dy + i, y + i, lines, sums);
  }
  N sum[most_lines], some[most_lines];
  for (std::int64_t k = 0; k < lines; ++k) sum[k] = static_cast<N>(sums[k]);
  for (std::int64_t i = 0; i < extent * stride; i += stride) {
    if (is_logarithmic) {
      std::copy_n(y + i, lines, some);
      exponentials(some, lines);
      epilogue::host::apply(multiply, some, some, sum, sum, lines);
      epilogue::host::apply(subtract, dx + i, dy + i, some, some, lines);
    } else {
      epilogue::host::apply(subtract, some, dy + i, sum, sum, lines);
      epilogue::host::apply(multiply, dx + i, y + i, some, some, lines);
    }
  }
}

}  // namespace

template <class N>
void softmax_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<softmax_attributes>();
  const lines_along all = lines_of(step.inputs[1].shape, a.over);
  const N *const dy = on.elements<N>(step.inputs[0]), *const y = on.elements<N>(step.inputs[1]);
  N* const dx = on.elements<N>(step.outputs[0]);
  for_each_group(on, all, [&](std::int64_t at, std::int64_t lines) {
    if (all.inner == 1)
      gradient_of_line(dy + at, y + at, dx + at, all.extent, a.logarithmic != 0);
    else
      gradient_of_lines(dy + at, y + at, dx + at, lines, all.extent, all.inner, a.logarithmic != 0);
  });
}

template <class N>
void multiply_matrices(const execution_context& on, const operator_step& step) {
  const location &a = step.inputs[0], &b = step.inputs[1], &c = step.outputs[0];
  const std::size_t rank = c.shape.rank;
  const std::int64_t m = c.shape.extents[rank - 2], n = c.shape.extents[rank - 1], k = a.shape.extents[rank - 1];
  const N *const x = on.elements<N>(a), *const y = on.elements<N>(b);
  N* const z = on.elements<N>(c);
  tensor_shape batch = c.shape;
  batch.extents[rank - 2] = batch.extents[rank - 1] = 1;
  const auto strides = [&](const location& l) {
    axis_values out = broadcast_strides(l.shape, rank, c.shape.extents);
    out[rank - 2] = out[rank - 1] = 0;
    return out;
  };
  const iteration_space over(rank, batch.extents, {strides(c), strides(a), strides(b)});
  const auto one = [&](std::int64_t at_c, std::int64_t at_a, std::int64_t at_b) {
    multiply_rows<N>(m, n, k, {x + at_a, k}, {y + at_b, n}, 0, z + at_c, n);
  };
  const auto batched = [&](std::int64_t i) {
    const std::int64_t line = i / over.length(), at = i % over.length();
    one(over.begin(0, line) + at * over.line_stride(0), over.begin(1, line) + at * over.line_stride(1),
        over.begin(2, line) + at * over.line_stride(2));
  };
  const std::int64_t count = over.lines() * over.length();
  // OpenBLAS computes larger products on all cores.
  if (m * n * k > 64 * 64 * 64)
    for (std::int64_t i = 0; i < count; ++i) batched(i);
  else
    on.team.spread(count, std::max<std::int64_t>(1, 100'000 / (m * n * k)), batched);
}

TROUPE_HOST_STEP(reduce);
TROUPE_HOST_STEP(softmax);
TROUPE_HOST_STEP(softmax_gradient);
TROUPE_HOST_STEP(multiply_matrices);

}  // namespace troupe::dnn::host
