// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/host/windows.hpp>

namespace troupe::dnn::host {

namespace {

// Calls `f(place, position)` for each position of the plane and each place of its window in the image.
template <class F>
void for_each_in_window(const window_geometry& g, std::int64_t a, std::int64_t b, std::int64_t c, F&& f) {
  for (std::int64_t i = 0; i < g.width[0]; ++i) {
    const std::int64_t x = g.at(0, a, i);
    if (x < 0 || x >= g.in[0]) continue;
    for (std::int64_t j = 0; j < g.width[1]; ++j) {
      const std::int64_t y = g.at(1, b, j);
      if (y < 0 || y >= g.in[1]) continue;
      for (std::int64_t k = 0; k < g.width[2]; ++k) {
        const std::int64_t z = g.at(2, c, k);
        if (z >= 0 && z < g.in[2]) f((x * g.in[1] + y) * g.in[2] + z);
      }
    }
  }
}
template <class F>
void for_each_position(const window_geometry& g, F&& f) {
  std::int64_t position = 0;
  for (std::int64_t a = 0; a < g.out[0]; ++a)
    for (std::int64_t b = 0; b < g.out[1]; ++b)
      for (std::int64_t c = 0; c < g.out[2]; ++c) f(position++, a, b, c);
}

template <class N>
bool is_better(N x, N best) noexcept {
  return x > best || (x != x && best == best);
}

}  // namespace

template <class N>
void pool(const workspace& w, const pooling_form& f, const location& x, const location& y) {
  const window_geometry g(f.window, x.shape, y.shape, f.extents);
  const N* const from = w.numbers<N>(x);
  N* const to = w.numbers<N>(y);
  w.team.spread(x.shape.extents[0] * x.shape.extents[1], 1, [&](std::int64_t plane) {
    const N* const image = from + plane * g.inside();
    N* const out = to + plane * g.positions();
    for_each_position(g, [&](std::int64_t position, std::int64_t a, std::int64_t b, std::int64_t c) {
      N best = 0, sum = 0;
      std::int64_t count = 0;
      for_each_in_window(g, a, b, c, [&](std::int64_t place) {
        if (count++ == 0 || is_better(image[place], best)) best = image[place];
        sum += image[place];
      });
      if (f.kind == pooling_kind::maximum)
        out[position] = best;
      else
        out[position] = sum / static_cast<N>(f.kind == pooling_kind::mean ? g.places() : count);
    });
  });
}

template <class N>
void pool_gradient(const workspace& w, const pooling_form& f, const location& dy, const location* x,
                   const location& dx) {
  const window_geometry g(f.window, dx.shape, dy.shape, f.extents);
  const N* const from = w.numbers<N>(dy);
  const N* const images = x != nullptr ? w.numbers<N>(*x) : nullptr;
  N* const to = w.numbers<N>(dx);
  w.team.spread(dx.shape.extents[0] * dx.shape.extents[1], 1, [&](std::int64_t plane) {
    N* const out = to + plane * g.inside();
    std::fill_n(out, g.inside(), N(0));
    for_each_position(g, [&](std::int64_t position, std::int64_t a, std::int64_t b, std::int64_t c) {
      const N d = from[plane * g.positions() + position];
      if (f.kind == pooling_kind::maximum) {
        const N* const image = images + plane * g.inside();
        std::int64_t best = -1;
        for_each_in_window(g, a, b, c, [&](std::int64_t place) {
          if (best < 0 || is_better(image[place], image[best])) best = place;
        });
        if (best >= 0) out[best] += d;
        return;
      }
      std::int64_t count = 0;
      if (f.kind == pooling_kind::mean)
        count = g.places();
      else
        for_each_in_window(g, a, b, c, [&](std::int64_t) { ++count; });
      const N share = d / static_cast<N>(count);
      for_each_in_window(g, a, b, c, [&](std::int64_t place) { out[place] += share; });
    });
  });
}

#define TROUPE_DNN_POOLING(N)                                                                             \
  template void pool<N>(const workspace&, const pooling_form&, const location&, const location&);         \
  template void pool_gradient<N>(const workspace&, const pooling_form&, const location&, const location*, \
                                 const location&);
TROUPE_DNN_POOLING(float)
TROUPE_DNN_POOLING(double)

}  // namespace troupe::dnn::host
