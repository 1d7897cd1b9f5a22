// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <troupe/fft/internal/views.hpp>

namespace troupe::fft {
namespace {

shape shape_of(const tensor_shape& s, std::span<const std::size_t> axes) noexcept {
  const auto n = [&](std::size_t i) { return extent(s.extents[axes[i]]); };
  if (axes.size() == 1) return n(0);
  if (axes.size() == 2) return {n(0), n(1)};
  return {n(0), n(1), n(2)};
}

// Sets the layout of a transform from its strides, as a part of an array. Returns the stride from one array to the
// next, or nullopt if a stride is not a multiple of the next one.
std::optional<extent> embed(const tensor_shape& s, std::span<const std::size_t> axes, laid_out& out) noexcept {
  std::array<extent, shape::most> sizes{1, 1, 1};
  const auto stride = [&](std::size_t i) { return extent(s.strides[axes[i]]); };
  const std::size_t last = axes.size() - 1;
  out.where.stride = out.n[last] > 1 ? stride(last) : extent(1);
  extent step = out.where.stride;
  for (std::size_t i = last + 1; i-- > 0;) {
    std::size_t outer = i;  // the stride of an axis with a single element has no effect
    while (outer > 0 && out.n[outer - 1] == 1) --outer;
    if (outer > 0 && stride(outer - 1) % step != 0) return std::nullopt;
    sizes[i] = outer > 0 ? stride(outer - 1) / step : out.n[i];
    if (sizes[i] < out.n[i]) return std::nullopt;
    step = step * sizes[i];
  }
  const shape all = axes.size() == 1   ? shape(sizes[0])
                    : axes.size() == 2 ? shape(sizes[0], sizes[1])
                                       : shape(sizes[0], sizes[1], sizes[2]);
  if (all != out.n) out.where.embed = all;
  return step;
}

}  // namespace

index_order::index_order(const tensor_shape& s, std::size_t dimensions, bool keeps_last) noexcept
    : rank_(s.rank), dimensions_(dimensions) {
  std::iota(indexes_.begin(), indexes_.end(), std::size_t{0});
  const auto by_stride = [&s](std::size_t a, std::size_t b) { return s.strides[a] > s.strides[b]; };
  const auto begin = indexes_.begin(), middle = begin + static_cast<std::ptrdiff_t>(rank_ - dimensions_),
             end = begin + static_cast<std::ptrdiff_t>(rank_);
  std::sort(begin, middle, by_stride);
  std::sort(middle, keeps_last ? end - 1 : end, by_stride);
}

std::optional<laid_out> lay_out(const tensor_shape& s, const index_order& order) noexcept {
  const auto axes = order.all();
  const auto own = axes.last(order.dimensions()), others = axes.first(axes.size() - order.dimensions());
  laid_out out{.n = shape_of(s, own), .batch = 1, .where = {}};
  const auto step = embed(s, own, out);
  if (!step) return std::nullopt;
  for (std::size_t i = others.size(); i-- > 0;) {
    const extent n = s.extents[others[i]], stride = s.strides[others[i]];
    if (n == 1) continue;
    if (out.batch == 1)
      out.where.distance = stride;
    else if (stride != out.where.distance * out.batch)
      return std::nullopt;
    out.batch = out.batch * n;
  }
  if (out.where.distance == *step) out.where.distance = tight;
  return out;
}

}  // namespace troupe::fft
