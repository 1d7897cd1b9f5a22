// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <troupe/request/operands/view_shape.hpp>
#include <troupe/windows/geometry.hpp>
#include <troupe/windows/roles.hpp>
#include <utility>

/// The definition of convolutions, computed in double: the reference for implementations that are fast.
namespace troupe::windows {

/// The index of an element along each axis of its tensor.
using tensor_index = std::array<std::int64_t, tensor_shape::max_rank>;

/// Calls `f(index)` in row-major order for the elements whose indexes along the axes before `first` are those of
/// `fixed`.
template <class F>
void for_each_index(const tensor_shape& s, std::size_t first, const tensor_index& fixed, F&& f) {
  tensor_index at = fixed;
  std::int64_t left = 1;
  for (std::size_t i = first; i < s.rank; ++i) at[i] = 0, left *= s.extents[i];
  for (; left > 0; --left) {
    f(std::as_const(at));
    for (std::size_t i = s.rank; i-- > first;) {
      if (++at[i] < s.extents[i]) break;
      at[i] = 0;
    }
  }
}

/// Sets the spatial indexes of `image` to the image element that window element `within` covers if the window is at
/// position `out`. Returns false if that is outside the image.
inline bool find_in_image(const slides& s, const tensor_shape& image_shape, const tensor_index& out,
                          const tensor_index& within, tensor_index& image) noexcept {
  for (std::size_t i = first_spatial; i < image_shape.rank; ++i) {
    const slide& k = s[i - first_spatial];
    image[i] = out[i] * k.stride - k.padding_before + within[i] * k.dilation;
    if (image[i] < 0 || image[i] >= image_shape.extents[i]) return false;
  }
  return true;
}
/// The inverse: sets the spatial indexes of `out` to the position at which window element `within` covers the image
/// element `image`. Returns false if there is no such position.
inline bool find_position(const slides& s, const tensor_shape& result_shape, const tensor_index& image,
                          const tensor_index& within, tensor_index& out) noexcept {
  for (std::size_t i = first_spatial; i < result_shape.rank; ++i) {
    const slide& k = s[i - first_spatial];
    const std::int64_t at = image[i] + k.padding_before - within[i] * k.dilation;
    if (at < 0 || at % k.stride != 0 || at / k.stride >= result_shape.extents[i]) return false;
    out[i] = at / k.stride;
  }
  return true;
}

/// A convolution or one of its gradients, defined element by element.
struct convolution_definition {
  computed_tensor what;
  windows::slides slides;
  std::int64_t groups;
  convolution_roles<tensor_shape> shapes;  ///< strides are not used

  /// Returns an element of the computed tensor. `first(index)` and `second(index)` must return elements of the factors.
  template <class First, class Second>
  double element(const tensor_index& at, First&& first, Second&& second) const {
    double sum = 0;
    for_each_summand(at, [&](const tensor_index& a, const tensor_index& b) { sum += first(a) * second(b); });
    return sum;
  }

 private:
  // Calls `f(index in the first factor, index in the second)` for each product whose sum is the element `at`.
  template <class F>
  void for_each_summand(const tensor_index& at, F&& f) const {
    const tensor_shape &x = shapes.image, &filters = shapes.filters, &y = shapes.result;
    const std::int64_t outputs = filters.extents[0] / groups, channels = filters.extents[1];
    switch (what) {
      case computed_tensor::y:
        for_each_index(filters, 1, {at[1]}, [&](const tensor_index& filter) {
          tensor_index image{at[0], at[1] / outputs * channels + filter[1]};
          if (find_in_image(slides, x, at, filter, image)) f(image, filter);
        });
        return;
      case computed_tensor::dx:
        for (std::int64_t k = at[1] / channels * outputs, end = k + outputs; k < end; ++k)
          for_each_index(filters, first_spatial, {k, at[1] % channels}, [&](const tensor_index& filter) {
            tensor_index out{at[0], k};
            if (find_position(slides, y, at, filter, out)) f(out, filter);
          });
        return;
      case computed_tensor::dfilters:
        for (std::int64_t n = 0; n < y.extents[0]; ++n)
          for_each_index(y, first_spatial, {n, at[0]}, [&](const tensor_index& out) {
            tensor_index image{n, at[0] / outputs * channels + at[1]};
            if (find_in_image(slides, x, out, at, image)) f(out, image);
          });
    }
  }
};

}  // namespace troupe::windows
