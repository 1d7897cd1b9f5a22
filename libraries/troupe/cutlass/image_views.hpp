// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/tensor.hpp>
#include <vector>

/// Views of images and filters as the matrices of a convolution's epilogue: operands of `load` and `store`.
namespace troupe::cutlass {

namespace detail {
troupe::detail::viewed_tensor view_images(const memory_range& memory, const tensor_shape& s);
troupe::detail::viewed_tensor view_filters(const memory_range& memory, const tensor_shape& s);
template <class T>
tensor<T> shown(const troupe::detail::viewed_tensor& v) {
  const std::vector<extent> extents(v.shape.extents.begin(), v.shape.extents.begin() + v.shape.rank),
      strides(v.shape.strides.begin(), v.shape.strides.begin() + v.shape.rank);
  return tensor<T>(buffer<T>(v.memory), std::span(extents), std::span(strides));
}
}  // namespace detail

/// Views images as image x position x channel. If positions have no single stride, as in a slice of an image, every use
/// of the view is refused with that reason.
///   cutlass::conv_forward{.x = x, .filters = w, .y = y, .epilogue = relu(acc + load(image_matrices(residual)))}
template <class T>
tensor<T> image_matrices(const tensor<T>& images) {
  return detail::shown<T>(detail::view_images(images.memory().memory(), images.shape()));
}

/// Views filters as filter x element, in the order of the elements in memory. Filters that an epilogue combines with
/// `dfilters` must have the same order in memory. If elements have no single stride, every use of the view is refused
/// with that reason.
template <class T>
matrix<T> filter_matrix(const tensor<T>& filters) {
  return matrix<T>(detail::shown<T>(detail::view_filters(filters.memory().memory(), filters.shape())));
}

}  // namespace troupe::cutlass
