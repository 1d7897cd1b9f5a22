// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/windows/check.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

template <class F>
placed_tensor placed_tensor_of(const F& view) noexcept {
  const tensor_shape& s = view.shape();
  placed_tensor out{view.range().address, view.type(), s.strides[0], s.strides[1], {}};
  const std::size_t missing = windows::most_spatial + 2 - s.rank;
  for (std::size_t i = 2; i < s.rank; ++i) out.spatial[missing + i - 2] = s.strides[i];
  return out;
}

template <class R, class X, class Filters, class Y>
convolution_problem make_problem(computed_tensor result, const R& r, const X& x, const Filters& filters, const Y& y) {
  const windows::slides slides = windows::slides_of(r, x.shape().rank - windows::first_spatial);
  convolution_problem p{windows::convolution_geometry::of(slides, r.groups, {x.shape(), filters.shape(), y.shape()})};
  p.result = result, p.x = placed_tensor_of(x), p.filters = placed_tensor_of(filters), p.y = placed_tensor_of(y);
  const windows::convolution_roles<dtype> types{x.type(), filters.type(), y.type()};
  p.sums = sums_of(types.first(result), types.second(result));
  p.tree = r.epilogue.encoded();
  p.paired = p.tree.is_paired();
  p.options = r.options;
  return p;
}

// The extent and stride of several axes that are merged into one. The stride is 0 if they cannot be merged.
struct merged_axis {
  std::int64_t count = 1, stride = 1;
};
template <class Axes>
merged_axis merge(const tensor_shape& s, const Axes& axes) noexcept {
  merged_axis out;
  // The last of `axes` is the fastest. Axes of extent 1 are skipped.
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t extent = s.extents[axes[i]], stride = s.strides[axes[i]];
    if (extent == 1) continue;
    if (out.count == 1)
      out.stride = stride;
    else if (out.stride == 0 || stride != out.stride * out.count)
      out.stride = 0;
    out.count *= extent;
  }
  return out;
}

}  // namespace

convolution_problem problem_of(const conv_forward& r) {
  return make_problem(computed_tensor::y, r, r.x, r.filters, r.y);
}
convolution_problem problem_of(const conv_data_gradient& r) {
  return make_problem(computed_tensor::dx, r, r.dx, r.filters, r.dy);
}
convolution_problem problem_of(const conv_weight_gradient& r) {
  return make_problem(computed_tensor::dfilters, r, r.x, r.dfilters, r.dy);
}

matrices_of_result matrices_of_images(const tensor_shape& images) noexcept {
  static constexpr std::array<std::size_t, windows::most_spatial> all{2, 3, 4};
  const merged_axis positions = merge(images, std::span(all.data(), images.rank - 2));
  return {
      {positions.count, images.extents[1], positions.stride, images.strides[1]}, images.extents[0], images.strides[0]};
}

filter_order order_of_filter(const tensor_shape& filters) noexcept {
  filter_order out{.count = filters.rank - 1};
  for (std::size_t i = 0; i < out.count; ++i) out.axis[i] = i + 1;
  const auto stride = [&](std::size_t i) { return filters.strides[out.axis[i]]; };
  for (std::size_t i = 1; i < out.count; ++i)
    for (std::size_t j = i; j > 0 && stride(j) > stride(j - 1); --j) std::swap(out.axis[j], out.axis[j - 1]);
  return out;
}

matrices_of_result matrix_of_filters(const tensor_shape& filters) noexcept {
  const filter_order order = order_of_filter(filters);
  const merged_axis elements = merge(filters, std::span(order.axis.data(), order.count));
  return {{filters.extents[0], elements.count, filters.strides[0], elements.stride}, 1, 0};
}

}  // namespace troupe::cutlass
