// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/accepted.hpp>
#include <troupe/fft/transforms.hpp>
#include <troupe/memory/tensor.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/operands/view_operand.hpp>
#include <troupe/request/ready_request.hpp>

/// Transforms of tensors, which have extents and strides. The last `dimensions` axes are transformed, 1 to 3 of them;
/// the other axes number the transforms of a batch. Each request is sent as c2c, r2c or c2r, the requests on plain
/// buffers, which also support callbacks and overlapping input.
///   fft::transform(gpu, spectra, signals, {.dimensions = 1});
namespace troupe::fft {

/// A transform of complex elements: see c2c. In place if output is input, with the same strides.
template <class T>
struct complex_transform {
  static_assert(is_complex<T>, "fft::complex_transform has complex64, complex128, complex_half and complex_bfloat16");
  in_tensor<T> input;
  out_tensor<T> output;
  extent dimensions = 0;  ///< number of axes to transform; 0: all
  fft::direction direction = fft::direction::forward;
  fft::normalization normalization = fft::normalization::none;
  TROUPE_REQUEST("fft.complex_transform", input, output, dimensions, direction, normalization)
  void check(checker&) const;
  c2c<T> to_request() const;
};

/// The forward transform of real elements. The output has n / 2 + 1 elements along the last axis. See r2c.
template <class T>
struct real_transform {
  static_assert(is_real<T>, "fft::real_transform has float, double, troupe::half and troupe::bfloat16");
  in_tensor<T> input;
  out_tensor<basic_complex<T>> output;
  extent dimensions = 0;  ///< number of axes to transform; 0: all
  fft::normalization normalization = fft::normalization::none;
  TROUPE_REQUEST("fft.real_transform", input, output, dimensions, normalization)
  void check(checker&) const;
  r2c<T> to_request() const;
};

/// The inverse transform to real elements. The input has n / 2 + 1 elements along the last axis, where the output has
/// n. See c2r.
template <class T>
struct real_inverse {
  static_assert(is_real<T>, "fft::real_inverse has float, double, troupe::half and troupe::bfloat16");
  in_tensor<basic_complex<T>> input;
  out_tensor<T> output;
  extent dimensions = 0;  ///< number of axes to transform; 0: all
  fft::normalization normalization = fft::normalization::none;
  bool consumes_input = false;  ///< true if the input may be overwritten: see c2r
  TROUPE_REQUEST("fft.real_inverse", input, output, dimensions, normalization, consumes_input)
  void check(checker&) const;
  c2r<T> to_request() const;
};

using all_views = joined_requests<requests_for<complex_types, complex_transform>,
                                  requests_for<real_types, real_transform>, requests_for<real_types, real_inverse>>;

/// Options of a complex `transform`.
struct complex_options {
  extent dimensions = 0;  ///< number of axes to transform; 0: all
  fft::direction direction = fft::direction::forward;
  fft::normalization normalization = fft::normalization::none;
};
/// The transform of complex elements, forward or inverse.
template <std::same_as<device> Device, class T>
  requires is_complex<T>
accepted transform(const Device& gpu, const tensor<T>& output, const tensor<T>& input, const complex_options& o = {},
                   const call_options_of<Device>& how = {}) {
  return gpu.tell(complex_transform<T>{.input = input,
                                       .output = output,
                                       .dimensions = o.dimensions,
                                       .direction = o.direction,
                                       .normalization = o.normalization},
                  how);
}

/// Options of a real `transform`.
struct real_options {
  extent dimensions = 0;  ///< number of axes to transform; 0: all
  fft::normalization normalization = fft::normalization::none;
};
/// The forward transform of real elements.
template <std::same_as<device> Device, class T>
  requires is_real<T>
accepted transform(const Device& gpu, const tensor<basic_complex<T>>& output, const tensor<T>& input,
                   const real_options& o = {}, const call_options_of<Device>& how = {}) {
  return gpu.tell(
      real_transform<T>{.input = input, .output = output, .dimensions = o.dimensions, .normalization = o.normalization},
      how);
}
/// The inverse transform to real elements.
template <std::same_as<device> Device, class T>
  requires is_real<T>
accepted transform(const Device& gpu, const tensor<T>& output, const tensor<basic_complex<T>>& input,
                   const real_options& o = {}, const call_options_of<Device>& how = {}) {
  return gpu.tell(
      real_inverse<T>{.input = input, .output = output, .dimensions = o.dimensions, .normalization = o.normalization},
      how);
}

}  // namespace troupe::fft
