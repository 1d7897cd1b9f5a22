// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <vector>

namespace troupe::dnn::host {
namespace {

// Replaces `best` by the maximum of `best` and one window element, at positions [0, count) of a line.
template <class N>
TROUPE_INLINE void take_best(N* best, const N* x, std::int64_t stride, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const N v = x[i * stride];
    best[i] = ((v > best[i]) | (v != v)) ? v : best[i];
  }
}
// Does the same, and sets `where` to the index of the maximum in the image. `at` is the image index of x[0]. The first
// of equal elements wins.
template <class N>
TROUPE_INLINE void find_best(N* best, std::int64_t* where, const N* x, std::int64_t at, std::int64_t stride,
                             std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const N v = x[i * stride];
    const bool better = (v > best[i]) | ((v != v) & (best[i] == best[i])) | (where[i] < 0);
    best[i] = better ? v : best[i];
    where[i] = better ? at + i * stride : where[i];
  }
}
template <class N>
TROUPE_INLINE void add_to_sums(double* sums, const N* x, std::int64_t stride, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(x[i * stride]);
}

// Calls `f(offset in the plane, first position, count)` for each window element, in row-major order. It passes the
// positions of the line of results [a, b, *] at which the window element is inside the image.
template <class F>
TROUPE_INLINE void for_each_window_element(const windows::geometry& g, std::int64_t a, std::int64_t b, F&& f) {
  for (std::int64_t i = 0; i < g.window[0]; ++i) {
    const std::int64_t x = g.at(0, a, i);
    if (x < 0 || x >= g.in[0]) continue;
    for (std::int64_t j = 0; j < g.window[1]; ++j) {
      const std::int64_t y = g.at(1, b, j);
      if (y < 0 || y >= g.in[1]) continue;
      for (std::int64_t k = 0; k < g.window[2]; ++k) {
        const auto [first, last] = g.positions_inside(2, k);
        if (last > first) f((x * g.in[1] + y) * g.in[2] + g.at(2, first, k), first, last - first);
      }
    }
  }
}

// Computes, for each position of a line, the number of elements by which the mean divides.
TROUPE_INLINE void count_elements(const windows::geometry& g, pooling_kind kind, std::int64_t a, std::int64_t b,
                                  std::vector<double>& counts) {
  std::fill(counts.begin(), counts.end(), kind == pooling_kind::mean ? static_cast<double>(g.window_size()) : 0.0);
  if (kind != pooling_kind::mean_of_image) return;
  for_each_window_element(g, a, b, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    for (std::int64_t c = first; c < first + count; ++c) counts[static_cast<std::size_t>(c)] += 1;
  });
}

template <class N>
TROUPE_INLINE void pool_plane(const windows::geometry& g, pooling_kind kind, const N* image, N* to) {
  const auto width = static_cast<std::size_t>(g.out[2]);
  std::vector<double> sums(width), counts(width);
  for (std::int64_t line = 0; line < g.out[0] * g.out[1]; ++line) {
    const std::int64_t a = line / g.out[1], b = line % g.out[1], stride = g.stride[2];
    N* const out = to + line * g.out[2];
    if (kind == pooling_kind::maximum) {
      std::fill_n(out, width, -std::numeric_limits<N>::infinity());
      for_each_window_element(g, a, b, [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
        if (stride == 1)
          take_best(out + first, image + offset, 1, count);
        else
          take_best(out + first, image + offset, stride, count);
      });
      continue;
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    for_each_window_element(g, a, b, [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
      if (stride == 1)
        add_to_sums(sums.data() + first, image + offset, 1, count);
      else
        add_to_sums(sums.data() + first, image + offset, stride, count);
    });
    count_elements(g, kind, a, b, counts);
    for (std::size_t c = 0; c < width; ++c) out[c] = static_cast<N>(sums[c] / counts[c]);
  }
}

template <class N>
TROUPE_INLINE void pool_gradient_plane(const windows::geometry& g, pooling_kind kind, const N* dy, const N* image,
                                       N* dx) {
  const auto width = static_cast<std::size_t>(g.out[2]);
  std::vector<double> counts(width);
  std::vector<N> best(width);
  std::vector<std::int64_t> where(width);
  std::fill_n(dx, g.image_size(), N(0));
  for (std::int64_t line = 0; line < g.out[0] * g.out[1]; ++line) {
    const std::int64_t a = line / g.out[1], b = line % g.out[1], stride = g.stride[2];
    const N* const d = dy + line * g.out[2];
    if (kind == pooling_kind::maximum) {
      std::fill(where.begin(), where.end(), -1);
      for_each_window_element(g, a, b, [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
        find_best(best.data() + first, where.data() + first, image + offset, offset, stride, count);
      });
      for (std::size_t c = 0; c < width; ++c)
        if (where[c] >= 0) dx[where[c]] += d[c];
      continue;
    }
    count_elements(g, kind, a, b, counts);
    for (std::size_t c = 0; c < width; ++c) best[c] = static_cast<N>(static_cast<double>(d[c]) / counts[c]);
    for_each_window_element(g, a, b, [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
      for (std::int64_t c = 0; c < count; ++c) dx[offset + c * stride] += best[static_cast<std::size_t>(first + c)];
    });
  }
}

template <class N>
TROUPE_INLINE void pool_plane_with_indexes(const windows::geometry& g, const N* image, N* to, N* indexes) {
  const auto width = static_cast<std::size_t>(g.out[2]);
  std::vector<std::int64_t> where(width);
  for (std::int64_t line = 0; line < g.out[0] * g.out[1]; ++line) {
    N* const out = to + line * g.out[2];
    std::fill(where.begin(), where.end(), -1);
    for_each_window_element(g, line / g.out[1], line % g.out[1],
                            [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
                              find_best(out + first, where.data() + first, image + offset, offset, g.stride[2], count);
                            });
    for (std::size_t c = 0; c < width; ++c)
      indexes[line * g.out[2] + static_cast<std::int64_t>(c)] = static_cast<N>(where[c]);
  }
}

// Adds dy to dx at those of the positions [0, count) of a line whose maximum was this window element.
template <class N>
TROUPE_INLINE void add_taken(const N* dy, const N* indexes, N* dx, std::int64_t at, std::int64_t stride,
                             std::int64_t count) noexcept {
  // Indexes are integers that are stored as N, so this arithmetic is exact.
  const N first = static_cast<N>(at), next = static_cast<N>(stride);
  for (std::int64_t i = 0; i < count; ++i)
    dx[i * stride] += indexes[i] == first + next * static_cast<N>(static_cast<std::int32_t>(i)) ? dy[i] : N(0);
}
template <class N>
TROUPE_INLINE void index_gradient_plane(const windows::geometry& g, const N* dy, const N* indexes, N* dx) {
  std::fill_n(dx, g.image_size(), N(0));
  for (std::int64_t line = 0; line < g.out[0] * g.out[1]; ++line)
    for_each_window_element(g, line / g.out[1], line % g.out[1],
                            [&](std::int64_t offset, std::int64_t first, std::int64_t count) {
                              const std::int64_t at = line * g.out[2] + first;
                              if (g.stride[2] == 1)
                                add_taken(dy + at, indexes + at, dx + offset, offset, 1, count);
                              else
                                add_taken(dy + at, indexes + at, dx + offset, offset, g.stride[2], count);
                            });
}

// Functions that are compiled for several kinds of processor; templates cannot be.
#define TROUPE_DNN_PLANES(N)                                                                              \
  TROUPE_FOR_EACH_PROCESSOR                                                                               \
  void pool_one(const windows::geometry& g, pooling_kind kind, const N* image, N* to) {                   \
    pool_plane(g, kind, image, to);                                                                       \
  }                                                                                                       \
  TROUPE_FOR_EACH_PROCESSOR                                                                               \
  void pool_gradient_one(const windows::geometry& g, pooling_kind kind, const N* dy, const N* x, N* dx) { \
    pool_gradient_plane(g, kind, dy, x, dx);                                                              \
  }                                                                                                       \
  TROUPE_FOR_EACH_PROCESSOR                                                                               \
  void pool_one_with_indexes(const windows::geometry& g, const N* image, N* to, N* indexes) {             \
    pool_plane_with_indexes(g, image, to, indexes);                                                       \
  }                                                                                                       \
  TROUPE_FOR_EACH_PROCESSOR                                                                               \
  void index_gradient_one(const windows::geometry& g, const N* dy, const N* indexes, N* dx) {             \
    index_gradient_plane(g, dy, indexes, dx);                                                             \
  }
TROUPE_DNN_PLANES(float)
TROUPE_DNN_PLANES(double)
#undef TROUPE_DNN_PLANES

}  // namespace

template <class N>
void pool(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<pooling_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0];
  const auto g = windows::geometry::of(a.slides, x.shape, y.shape, a.extents);
  const N* const from = on.elements<N>(x);
  N* const to = on.elements<N>(y);
  on.team.spread(x.shape.extents[0] * x.shape.extents[1], 1, [&](std::int64_t plane) {
    pool_one(g, a.kind, from + plane * g.image_size(), to + plane * g.positions());
  });
}

template <class N>
void pool_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<pooling_attributes>();
  const location &dy = step.inputs[0], &dx = step.outputs[0];
  const location* const x = step.inputs.size() > 1 ? &step.inputs[1] : nullptr;  // only if kind is maximum
  const auto g = windows::geometry::of(a.slides, dx.shape, dy.shape, a.extents);
  const N* const from = on.elements<N>(dy);
  const N* const images = x != nullptr ? on.elements<N>(*x) : nullptr;
  N* const to = on.elements<N>(dx);
  on.team.spread(dx.shape.extents[0] * dx.shape.extents[1], 1, [&](std::int64_t plane) {
    const N* const image = images != nullptr ? images + plane * g.image_size() : nullptr;
    pool_gradient_one(g, a.kind, from + plane * g.positions(), image, to + plane * g.image_size());
  });
}

template <class N>
void pool_with_indexes(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<pooling_attributes>();
  const location &x = step.inputs[0], &y = step.outputs[0], &indexes = step.outputs[1];
  const auto g = windows::geometry::of(a.slides, x.shape, y.shape, a.extents);
  const N* const from = on.elements<N>(x);
  N *const to = on.elements<N>(y), *const where = on.elements<N>(indexes);
  on.team.spread(x.shape.extents[0] * x.shape.extents[1], 1, [&](std::int64_t plane) {
    pool_one_with_indexes(g, from + plane * g.image_size(), to + plane * g.positions(), where + plane * g.positions());
  });
}

template <class N>
void pool_index_gradient(const execution_context& on, const operator_step& step) {
  const auto a = step.attributes.as<pooling_attributes>();
  const location &dy = step.inputs[0], &indexes = step.inputs[1], &dx = step.outputs[0];
  const auto g = windows::geometry::of(a.slides, dx.shape, dy.shape, a.extents);
  const N *const from = on.elements<N>(dy), *const where = on.elements<N>(indexes);
  N* const to = on.elements<N>(dx);
  on.team.spread(dx.shape.extents[0] * dx.shape.extents[1], 1, [&](std::int64_t plane) {
    index_gradient_one(g, from + plane * g.positions(), where + plane * g.positions(), to + plane * g.image_size());
  });
}

TROUPE_HOST_STEP(pool);
TROUPE_HOST_STEP(pool_gradient);
TROUPE_HOST_STEP(pool_with_indexes);
TROUPE_HOST_STEP(pool_index_gradient);

}  // namespace troupe::dnn::host
