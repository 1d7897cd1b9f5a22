// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes runs: consecutive elements of a row of the result. Included after arguments.hpp and numbers.cuh.
namespace troupe::cutlass::kernels {

// Elements of row `row` from `column` on; the first `count` exist.
struct run {
  int batch, row, column, count;
};
__device__ __forceinline__ run in_first_row(const run& at) { return {at.batch, 0, at.column, at.count}; }

namespace detail {
template <int Bytes>
struct word;
template <>
struct word<1> {
  using type = unsigned char;
};
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned;
};
template <>
struct word<8> {
  using type = uint2;
};
template <>
struct word<16> {
  using type = uint4;
};
constexpr int lesser(int x, int y) { return x < y ? x : y; }
}  // namespace detail

// Access to the elements of a row, as known when a kernel is compiled. A positive access: elements are contiguous, and
// that many bytes can be read at once.
constexpr int same_in_row = -1;  // one element for the whole row
constexpr int any_stride = 0;

// Returns the address of the first element of a run. Where elements are contiguous, the stride is the constant 1, so
// that columns become immediate offsets.
template <class T, int Access>
__device__ __forceinline__ auto* element_of(const matrix& p, const run& at) {
  auto* const row = reinterpret_cast<typename T::bits*>(p.address) + at.batch * p.batch + at.row * p.row;
  if constexpr (Access == same_in_row)
    return row;
  else if constexpr (Access > 0)
    return row + at.column;
  else
    return row + at.column * p.column;
}

// A run in its stored type.
template <class T, int Access, int W>
struct stored_run {
  static constexpr int count = Access == same_in_row ? 1 : W;
  alignas(16) typename T::bits raw[count];
};
template <class T, int Access, int W>
__device__ __forceinline__ void read_run(const matrix& p, const run& at, stored_run<T, Access, W>& to) {
  using bits = typename T::bits;
  const bits* const from = element_of<T, Access>(p, at);
  if constexpr (Access == same_in_row) {
    to.raw[0] = *from;
  } else if constexpr (Access == any_stride) {
#pragma unroll
    for (int i = 0; i < W; ++i) to.raw[i] = i < at.count ? from[i * p.column] : bits(0);
  } else {
    constexpr int step = detail::lesser(Access, W * static_cast<int>(sizeof(bits)));
    using word = typename detail::word<step>::type;
    if (at.count >= W) {
#pragma unroll
      for (int i = 0; i < W * static_cast<int>(sizeof(bits)) / step; ++i)
        reinterpret_cast<word*>(to.raw)[i] = reinterpret_cast<const word*>(from)[i];
    } else {
#pragma unroll
      for (int i = 0; i < W; ++i) to.raw[i] = i < at.count ? from[i] : bits(0);
    }
  }
}
template <class T, int Access, int W, class N>
__device__ __forceinline__ void numbers_of(const stored_run<T, Access, W>& from, N (&to)[W]) {
#pragma unroll
  for (int i = 0; i < W; ++i) to[i] = static_cast<N>(T::load(from.raw[Access == same_in_row ? 0 : i]));
}
template <class T, int Access, int W, class N>
__device__ __forceinline__ void load_run(const matrix& p, const run& at, N (&to)[W]) {
  stored_run<T, Access, W> raw;
  read_run(p, at, raw);
  numbers_of(raw, to);
}
// Prefetches a run of any length into the L2 cache, if it is contiguous.
template <class T, int Access>
__device__ __forceinline__ void prefetch_run(const matrix& p, const run& at) {
  if constexpr (Access > 0) {
    constexpr unsigned long long line = 128;
    const auto from = reinterpret_cast<unsigned long long>(element_of<T, Access>(p, at)),
               to = from + at.count * sizeof(typename T::bits);
    for (unsigned long long i = from / line * line; i < to; i += line)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(i));
  }
}

template <class T, int Access, int W, class N>
__device__ __forceinline__ void store_run(const matrix& p, const run& at, const N (&values)[W]) {
  using bits = typename T::bits;
  bits* const to = element_of<T, Access>(p, at);
  alignas(16) bits raw[W];
  if constexpr (sizeof(bits) == 2 && sizeof(N) == 4 && W % 2 == 0) {
#pragma unroll
    for (int i = 0; i < W / 2; ++i) reinterpret_cast<unsigned*>(raw)[i] = two_of<T>(values[2 * i], values[2 * i + 1]);
  } else if constexpr (sizeof(bits) == 1 && sizeof(N) == 4 && W % 2 == 0) {
#pragma unroll
    for (int i = 0; i < W / 2; ++i)
      reinterpret_cast<unsigned short*>(raw)[i] = two_bytes_of<T>(values[2 * i], values[2 * i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < W; ++i) raw[i] = T::store(values[i]);
  }
  if constexpr (Access > 0) {
    constexpr int step = detail::lesser(Access, W * static_cast<int>(sizeof(bits)));
    using word = typename detail::word<step>::type;
    if (at.count >= W) {
#pragma unroll
      for (int i = 0; i < W * static_cast<int>(sizeof(bits)) / step; ++i)
        reinterpret_cast<word*>(to)[i] = reinterpret_cast<const word*>(raw)[i];
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < W; ++i)
    if (i < at.count) to[Access > 0 ? i : i * p.column] = raw[i];
}

// The combinations and scopes of an epilogue's reductions, with the values of <troupe/epilogue/op.hpp>.
constexpr int combine_sum = 0, combine_maximum = 1, combine_absolute_maximum = 2;
constexpr int scope_row = 0, scope_column = 1, scope_all = 2;

// Returns the value that an empty reduction has.
template <class N>
__device__ __forceinline__ N start_of(int how) {
  return how == combine_maximum ? -static_cast<N>(__int_as_float(0x7f800000)) : N(0);
}
// Combines two values; the result is NaN if either is.
template <class N>
__device__ __forceinline__ N combined(int how, N x, N y) {
  if (how == combine_sum) return x + y;
  if (how == combine_absolute_maximum) y = fabs(y);
  return x > y || x != x ? x : y;
}
// Combines the values of the lanes whose indexes differ only in the bits of `lanes`.
template <class N>
__device__ __forceinline__ N combined_over(int lanes, int how, N x) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2)
    if (lanes & bit) x = combined(how, x, __shfl_xor_sync(0xffffffffu, x, bit));
  return x;
}

}  // namespace troupe::cutlass::kernels
