// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Positions and taps of convolutions as numbers with digits, and addresses of results: see `convolution_arguments`.
// Included after results.cuh.
namespace troupe::cutlass::kernels {

constexpr int rank = variant::rank;  // spatial axes of extent greater than 1

// The coordinates of a position or a tap, the fastest axis first.
struct digits {
  int x[4];
  digits() = default;
  __device__ __forceinline__ digits(int number, const int* radix) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      x[i] = number % radix[i];
      number /= radix[i];
    }
    x[3] = number;
  }
  __device__ __forceinline__ void add(const digits& y, const int* radix) { add(y.x, radix); }
  __device__ __forceinline__ void add(const int (&y)[4], const int* radix, int carry = 0) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      x[i] += y[i] + carry;
      carry = x[i] >= radix[i] ? 1 : 0;
      if (carry != 0) x[i] -= radix[i];
    }
    x[3] += y[3] + carry;
  }
  // Adds 1.
  __device__ __forceinline__ void advance(const int* radix) {
    const int none[4] = {};
    add(none, radix, 1);
  }
};
// The radices of the first three digits; the last digit has none.
struct radices {
  int of[3];
  static __device__ __forceinline__ radices positions(const convolution_arguments& w) {
    return {{w.positions[0], w.positions[1], w.positions[2]}};
  }
  static __device__ __forceinline__ radices taps(const convolution_arguments& w) {
    return {{w.channels, w.taps[0], w.taps[1]}};
  }
};

// Maps rows of the result, which are positions, to memory with a stride for each axis.
struct image_rows {
  const convolution_arguments& w;
  __device__ __forceinline__ int row(int r) const {
    const digits position(r, radices::positions(w).of);
    i64 out = w.first_row;
#pragma unroll
    for (int j = 0; j < 4; ++j) out += position.x[j] * w.row_strides[j];
    return static_cast<int>(out);
  }
  __device__ __forceinline__ matrix result(const matrix& p, int r) const {
    const digits position(r, radices::positions(w).of);
    i64 shift = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) shift += position.x[j] * w.result_strides[j];
    matrix out = p;
    out.address += shift * static_cast<i64>(sizeof(variant::result::bits));
    return out;
  }
  __device__ __forceinline__ run in_result(const run& at) const { return in_first_row(at); }
};

// Arguments of a convolution's kernel: the convolution precedes the other arguments.
template <class All>
struct with_convolution;
template <class Number, int Memory, int Numbers>
struct with_convolution<arguments<Number, Memory, Numbers>> {
  using type = arguments_with<convolution_arguments, Number, Memory, Numbers>;
};
using all_with_convolution = with_convolution<kernel_epilogue::all>::type;

}  // namespace troupe::cutlass::kernels
