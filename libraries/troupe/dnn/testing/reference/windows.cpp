// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/testing/reference/nodes.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn::detail {
namespace {

// Calls `use(y index, x index, filters index)` for each product that a convolution sums. Its gradients use the same
// triples of indexes.
template <class Use>
void for_each_product(const convolution_attributes& f, const tensor_shape& x, const tensor_shape& filters,
                      const tensor_shape& y, Use use) {
  const std::int64_t filters_of_group = filters.extents[0] / f.groups, channels_of_group = filters.extents[1];
  tensor_shape one_filter = filters;
  one_filter.extents[0] = 1;
  for_each_index(y, [&](const tensor_index& out) {
    for_each_index(one_filter, [&](tensor_index filter) {
      filter[0] = out[1];
      tensor_index image{out[0], out[1] / filters_of_group * channels_of_group + filter[1]};
      if (find_in_image(f.window, x, out, filter, image)) use(out, std::as_const(image), std::as_const(filter));
    });
  });
}

// Calls `f(x index)` for each element of the window of `out` that is inside the image, in row-major order.
template <class F>
void for_each_inside(const pooling_attributes& attributes, const tensor_shape& x, const tensor_index& out, F f) {
  tensor_shape window{.rank = x.rank, .extents = {1, 1}};
  std::copy_n(attributes.extents, x.rank - first_spatial, window.extents.begin() + first_spatial);
  for_each_index(window, [&](const tensor_index& within) {
    tensor_index image{out[0], out[1]};
    if (find_in_image(attributes.window, x, out, within, image)) f(std::as_const(image));
  });
}

// Returns the index of an element in its image, in row-major order of the spatial axes.
double position_of(const tensor_index& image, const tensor_shape& x) noexcept {
  std::int64_t position = 0;
  for (std::size_t i = first_spatial; i < x.rank; ++i) position = position * x.extents[i] + image[i];
  return static_cast<double>(position);
}

// Returns the number of elements that the mean of a window divides by.
double count_of(const pooling_attributes& attributes, const tensor_shape& x, const tensor_index& out) {
  std::int64_t count = 0;
  if (attributes.kind == pooling_kind::mean_of_image) {
    for_each_inside(attributes, x, out, [&](const tensor_index&) { ++count; });
  } else {
    count = 1;
    for (std::size_t i = first_spatial; i < x.rank; ++i) count *= attributes.extents[i - first_spatial];
  }
  return static_cast<double>(count);
}

}  // namespace

void convolve(const convolution_attributes& f, input_values x, input_values filters, output_values y) {
  for_each_product(f, x.shape, filters.shape, y.shape,
                   [&](auto& out, auto& image, auto& filter) { y[out] += x[image] * filters[filter]; });
}

void find_data_gradient(const convolution_attributes& f, input_values dy, input_values filters, output_values dx) {
  for_each_product(f, dx.shape, filters.shape, dy.shape,
                   [&](auto& out, auto& image, auto& filter) { dx[image] += dy[out] * filters[filter]; });
}

void find_weight_gradient(const convolution_attributes& f, input_values dy, input_values x, output_values dw) {
  for_each_product(f, x.shape, dw.shape, dy.shape,
                   [&](auto& out, auto& image, auto& filter) { dw[filter] += dy[out] * x[image]; });
}

void pool(const pooling_attributes& f, input_values x, output_values y) {
  for_each_index(y.shape, [&](const tensor_index& out) {
    if (f.kind == pooling_kind::maximum) {
      double largest = -std::numeric_limits<double>::infinity();
      for_each_inside(f, x.shape, out, [&](const tensor_index& image) {
        largest = epilogue::value_of(epilogue::op::maximum, largest, x[image]);
      });
      y[out] = largest;
    } else {
      double sum = 0;
      for_each_inside(f, x.shape, out, [&](const tensor_index& image) { sum += x[image]; });
      y[out] = sum / count_of(f, x.shape, out);
    }
  });
}

void find_pooling_gradient(const pooling_attributes& f, input_values dy, input_values x, output_values dx) {
  for_each_index(dy.shape, [&](const tensor_index& out) {
    if (f.kind == pooling_kind::maximum) {
      std::optional<tensor_index> first;
      for_each_inside(f, x.shape, out, [&](const tensor_index& image) {
        if (!first || (!std::isnan(x[*first]) && (x[image] > x[*first] || std::isnan(x[image])))) first = image;
      });
      if (first) dx[*first] += dy[out];
    } else {
      const double share = dy[out] / count_of(f, dx.shape, out);
      for_each_inside(f, dx.shape, out, [&](const tensor_index& image) { dx[image] += share; });
    }
  });
}

void find_largest(const pooling_attributes& f, input_values x, output_values y, output_values indexes) {
  for_each_index(y.shape, [&](const tensor_index& out) {
    double largest = -std::numeric_limits<double>::infinity(), where = -1;
    for_each_inside(f, x.shape, out, [&](const tensor_index& image) {
      const double here = x[image];
      if (where >= 0 && !(here > largest) && !(std::isnan(here) && !std::isnan(largest))) return;
      largest = here, where = position_of(image, x.shape);
    });
    y[out] = largest, indexes[out] = where;
  });
}

void find_index_gradient(const pooling_attributes& f, input_values dy, input_values indexes, output_values dx) {
  for_each_index(dy.shape, [&](const tensor_index& out) {
    for_each_inside(f, dx.shape, out, [&](const tensor_index& image) {
      if (position_of(image, dx.shape) == indexes[out]) dx[image] += dy[out];
    });
  });
}

}  // namespace troupe::dnn::detail
