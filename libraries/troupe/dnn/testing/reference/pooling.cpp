// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/windows/definition.hpp>

namespace troupe::dnn::detail {
namespace {

using windows::find_in_image, windows::first_spatial;

// Calls `f(index in x)` for each element of the window at position `out` that is inside the image, in row-major order.
template <class F>
void for_each_inside(const pooling_attributes& attributes, const tensor_shape& x, const tensor_index& out, F f) {
  tensor_shape window{.rank = x.rank, .extents = {1, 1}};
  std::copy_n(attributes.extents, x.rank - first_spatial, window.extents.begin() + first_spatial);
  for_each_index(window, [&](const tensor_index& within) {
    tensor_index image{out[0], out[1]};
    if (find_in_image(attributes.slides, x, out, within, image)) f(std::as_const(image));
  });
}

// Returns the index of an element in its image, counted in row-major order of the spatial axes.
double position_of(const tensor_index& image, const tensor_shape& x) noexcept {
  std::int64_t position = 0;
  for (std::size_t i = first_spatial; i < x.rank; ++i) position = position * x.extents[i] + image[i];
  return static_cast<double>(position);
}

// Returns the number of elements by which the mean of a window divides.
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

void pool(const pooling_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& out) {
    if (a.kind == pooling_kind::maximum) {
      double largest = -std::numeric_limits<double>::infinity();
      for_each_inside(a, x.shape, out, [&](const tensor_index& image) {
        largest = epilogue::value_of(epilogue::op::maximum, largest, x[image]);
      });
      y[out] = largest;
    } else {
      double sum = 0;
      for_each_inside(a, x.shape, out, [&](const tensor_index& image) { sum += x[image]; });
      y[out] = sum / count_of(a, x.shape, out);
    }
  });
}

void find_pooling_gradient(const pooling_attributes& a, inputs in, outputs out) {
  const input_values dy = in[0], x = in.back();  // only the gradient of a maximum reads x
  const output_values dx = out[0];
  for_each_index(dy.shape, [&](const tensor_index& out) {
    if (a.kind == pooling_kind::maximum) {
      std::optional<tensor_index> first;
      for_each_inside(a, x.shape, out, [&](const tensor_index& image) {
        if (!first || (!std::isnan(x[*first]) && (x[image] > x[*first] || std::isnan(x[image])))) first = image;
      });
      if (first) dx[*first] += dy[out];
    } else {
      const double share = dy[out] / count_of(a, dx.shape, out);
      for_each_inside(a, dx.shape, out, [&](const tensor_index& image) { dx[image] += share; });
    }
  });
}

void find_largest(const pooling_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0], indexes = out[1];
  for_each_index(y.shape, [&](const tensor_index& out) {
    double largest = -std::numeric_limits<double>::infinity(), where = -1;
    for_each_inside(a, x.shape, out, [&](const tensor_index& image) {
      const double here = x[image];
      if (where >= 0 && !(here > largest) && !(std::isnan(here) && !std::isnan(largest))) return;
      largest = here, where = position_of(image, x.shape);
    });
    y[out] = largest, indexes[out] = where;
  });
}

void find_index_gradient(const pooling_attributes& a, inputs in, outputs out) {
  const input_values dy = in[0], indexes = in[1];
  const output_values dx = out[0];
  for_each_index(dy.shape, [&](const tensor_index& out) {
    for_each_inside(a, dx.shape, out, [&](const tensor_index& image) {
      if (position_of(image, dx.shape) == indexes[out]) dx[image] += dy[out];
    });
  });
}

}  // namespace troupe::dnn::detail
