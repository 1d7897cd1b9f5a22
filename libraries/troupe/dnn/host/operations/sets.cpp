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
// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_BEST(N)                                                                \
  TROUPE_FOR_EACH_PROCESSOR                                                               \
  double best_of(const N* x, std::int64_t n, bool larger, bool absolute) noexcept {       \
    return larger ? best_along<true>(x, n, absolute) : best_along<false>(x, n, absolute); \
  }
TROUPE_DNN_BEST(float)
TROUPE_DNN_BEST(double)
#undef TROUPE_DNN_BEST

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

// The lines along one axis of a tensor: `count` lines of `length` elements with the stride `stride`.
struct lines_along {
  std::int64_t length, stride = 1, count;
  lines_along(const tensor_shape& s, std::int64_t axis) : length(s.extents[static_cast<std::size_t>(axis)]) {
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < s.rank; ++i) stride *= s.extents[i];
    count = elements_of(s) / length;
  }
  std::int64_t begin(std::int64_t line) const noexcept { return line / stride * stride * length + line % stride; }
};

// Computes the softmax of a contiguous line.
template <class N>
void softmax_line(const N* in, N most, N* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] - most;
  epilogue::host::apply(epilogue::op::exponential, out, out, out, out, n);
  const N by = static_cast<N>(1 / sum_along(n, [&](std::int64_t i) { return static_cast<double>(out[i]); }));
  for (std::int64_t i = 0; i < n; ++i) out[i] *= by;
}

}  // namespace

template <class N>
void softmax(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<softmax_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0];
  const lines_along all(x.shape, a.over);
  const N* const from = on.elements<N>(x);
  N* const to = on.elements<N>(y);
  on.team.spread(all.count, std::max<std::int64_t>(1, 4096 / all.length), [&](std::int64_t l) {
    const N* const in = from + all.begin(l);
    N* const out = to + all.begin(l);
    N most = in[0];
    for (std::int64_t i = 1; i < all.length; ++i)
      most = in[i * all.stride] > most || in[i * all.stride] != in[i * all.stride] ? in[i * all.stride] : most;
    if (all.stride == 1 && a.logarithmic == 0) return softmax_line(in, most, out, all.length);
    double sum = 0;
    for (std::int64_t i = 0; i < all.length; ++i) {
      const N e = std::exp(in[i * all.stride] - most);
      sum += static_cast<double>(e);
      if (a.logarithmic == 0) out[i * all.stride] = e;
    }
    const N by = a.logarithmic == 0 ? static_cast<N>(1 / sum) : static_cast<N>(std::log(sum));
    for (std::int64_t i = 0; i < all.length; ++i)
      out[i * all.stride] = a.logarithmic == 0 ? out[i * all.stride] * by : in[i * all.stride] - most - by;
  });
}

template <class N>
void softmax_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<softmax_attributes>();
  const location &dy = step.inputs[0], &y = step.inputs[1], &dx = step.outputs[0];
  const lines_along all(y.shape, a.over);
  const N *const d = on.elements<N>(dy), *const from = on.elements<N>(y);
  N* const to = on.elements<N>(dx);
  on.team.spread(all.count, std::max<std::int64_t>(1, 4096 / all.length), [&](std::int64_t l) {
    const std::int64_t at = all.begin(l);
    double total = 0;
    for (std::int64_t i = 0; i < all.length; ++i) {
      const std::int64_t p = at + i * all.stride;
      total += static_cast<double>(d[p]) * (a.logarithmic == 0 ? static_cast<double>(from[p]) : 1);
    }
    const N sum = static_cast<N>(total);
    for (std::int64_t i = 0; i < all.length; ++i) {
      const std::int64_t p = at + i * all.stride;
      to[p] = a.logarithmic == 0 ? from[p] * (d[p] - sum) : d[p] - std::exp(from[p]) * sum;
    }
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
