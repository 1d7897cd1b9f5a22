// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/half.hpp>
#include <troupe/fft/callbacks.hpp>
#include <troupe/fft/options.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/request_list.hpp>
#include <type_traits>

/// Discrete Fourier transforms of any length, in 1 to 3 dimensions, alone or in batches.
///
/// A worker makes a plan for the first request of a transform and keeps it: requests that differ only in their memory
/// share one plan. `prepare` makes it ahead of time.
namespace troupe::fft {

/// half and bfloat16 are computed in float, and each result is rounded once; on GPUs, as cuFFT does.
template <class T>
inline constexpr bool is_real =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>> && is_real<real_of<T>>;

using real_types = types<float, double, half, bfloat16>;
using complex_types = types<complex64, complex128, complex_half, complex_bfloat16>;

/// output[k] = sum over j of input[j] * exp(-+ 2 pi i j k / n), along each axis. It works in place if output is input,
/// in the same layout. Transforms of the input may overlap each other (a sliding window has a distance below n); those
/// of the output must not.   cufftExecC2C, cufftExecZ2Z, cufftXtExec
template <class T>
struct c2c {
  static_assert(is_complex<T>, "fft::c2c has complex64, complex128, complex_half and complex_bfloat16");
  in<T> input;
  out<T> output;
  shape n;
  fft::direction direction = fft::direction::forward;
  extent batch = 1;
  fft::normalization normalization = fft::normalization::none;
  layout input_layout = {}, output_layout = {};
  fft::callbacks<T, T> callbacks = {};              ///< none: elements are read and written unchanged
  std::optional<in<std::byte>> load_data = {};      ///< for the load callback: `x.as<std::byte>()`
  std::optional<inout<std::byte>> store_data = {};  ///< for the store callback
  TROUPE_REQUEST("fft.c2c", input, output, n, direction, batch, normalization, input_layout, output_layout, callbacks,
                 load_data, store_data)
  void check(checker&) const;
};

/// The forward transform of real elements. The output has the first n / 2 + 1 elements along the last axis; the others
/// are conjugates of these. It works in place if output is the same memory, and the input's rows are padded:
/// `.input_layout = {.embed = padded(n)}`.   cufftExecR2C, cufftExecD2Z, cufftXtExec
template <class T>
struct r2c {
  static_assert(is_real<T>, "fft::r2c has float, double, troupe::half and troupe::bfloat16");
  in<T> input;
  out<basic_complex<T>> output;
  shape n;  ///< extents of the real side
  extent batch = 1;
  fft::normalization normalization = fft::normalization::none;
  layout input_layout = {}, output_layout = {};
  fft::callbacks<T, basic_complex<T>> callbacks = {};  ///< none: elements are read and written unchanged
  std::optional<in<std::byte>> load_data = {};         ///< for the load callback: `x.as<std::byte>()`
  std::optional<inout<std::byte>> store_data = {};     ///< for the store callback
  TROUPE_REQUEST("fft.r2c", input, output, n, batch, normalization, input_layout, output_layout, callbacks, load_data,
                 store_data)
  void check(checker&) const;
};

/// The inverse transform to real elements: its input has the n / 2 + 1 elements along the last axis that `r2c`
/// produces. Imaginary parts that the transform of a real signal cannot have (of element 0, and of n / 2 if n is even)
/// have no effect. It works in place as `r2c` does, with the padding in `output_layout`.   cufftExecC2R, cufftExecZ2D,
/// cufftXtExec
template <class T>
struct c2r {
  static_assert(is_real<T>, "fft::c2r has float, double, troupe::half and troupe::bfloat16");
  in<basic_complex<T>> input;
  out<T> output;
  shape n;  ///< extents of the real side
  extent batch = 1;
  fft::normalization normalization = fft::normalization::none;
  layout input_layout = {}, output_layout = {};
  /// True if the input may be overwritten, which saves a copy of it in 2 and 3 dimensions on GPUs.
  bool consumes_input = false;
  fft::callbacks<basic_complex<T>, T> callbacks = {};  ///< none: elements are read and written unchanged
  std::optional<in<std::byte>> load_data = {};         ///< for the load callback: `x.as<std::byte>()`
  std::optional<inout<std::byte>> store_data = {};     ///< for the store callback
  TROUPE_REQUEST("fft.c2r", input, output, n, batch, normalization, input_layout, output_layout, consumes_input,
                 callbacks, load_data, store_data)
  void check(checker&) const;
};

/// The reply of `prepare`.
struct plan_info {
  std::uint64_t work_bytes;  ///< scratch memory of a running transform; a lane uses one area for all plans
};

/// Makes a plan ahead of time. Complex elements: the plan of `c2c`; real elements: the plan of `r2c`, or of `c2r` if
/// the direction is inverse. The fields have the same meaning as in these requests.   cufftXtMakePlanMany
///   gpu.tell(fft::prepare<complex64>{.n = {512, 512}, .batch = 64});
template <class T>
struct prepare {
  static_assert(is_real<T> || is_complex<T>, "fft::prepare has the elements of c2c, r2c and c2r");
  shape n;
  fft::direction direction = fft::direction::forward;
  extent batch = 1;
  layout input_layout = {}, output_layout = {};
  using reply = plan_info;
  TROUPE_REQUEST("fft.prepare", n, direction, batch, input_layout, output_layout)
  void check(checker&) const;
};

using all_transforms = joined_requests<requests_for<complex_types, c2c>, requests_for<real_types, r2c, c2r>,
                                       requests_for<complex_types, prepare>, requests_for<real_types, prepare>>;

}  // namespace troupe::fft
